//! Visiting the elements of several operands in step: axes reordered to follow memory, merged where they run on, and
//! handed out as inner loops.
//!
//! Uses nothing; used by every loop over strided memory.

/// Axes of `N` operands, outermost first, without axes of size 1; operand 0 decides the order.
pub(crate) struct Walk<const N: usize> {
    rank: usize,
    sizes: [usize; 8],
    strides: [[usize; N]; 8],
}

/// One inner loop: where each operand starts (in elements from its own offset), how many steps, how far each step.
pub(crate) struct Run<const N: usize> {
    pub starts: [usize; N],
    pub len: usize,
    pub steps: [usize; N],
}

impl<const N: usize> Walk<N> {
    /// `strides[i]` are operand `i`'s, broadcast to `sizes`. Axes are put in the order of operand 0's strides, so no
    /// two positions of operand 0 may share an element if it is written.
    pub(crate) fn new(sizes: &[usize], strides: [&[usize]; N]) -> Self {
        let mut walk = Self::in_order(sizes, strides, false);
        let axes = walk.rank;
        let mut order: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
        order[..axes].sort_by_key(|&axis| core::cmp::Reverse(walk.strides[axis][0]));
        let (old_sizes, old_strides) = (walk.sizes, walk.strides);
        for (to, &from) in order[..axes].iter().enumerate() {
            walk.sizes[to] = old_sizes[from];
            walk.strides[to] = old_strides[from];
        }
        walk.merge();
        walk
    }

    /// The same in row-major order, whatever the strides.
    pub(crate) fn row_major(sizes: &[usize], strides: [&[usize]; N]) -> Self {
        Self::in_order(sizes, strides, true)
    }

    fn in_order(sizes: &[usize], strides: [&[usize]; N], merge: bool) -> Self {
        let mut walk = Walk { rank: 0, sizes: [1; 8], strides: [[0; N]; 8] };
        for (axis, &size) in sizes.iter().enumerate() {
            if size != 1 {
                walk.sizes[walk.rank] = size;
                walk.strides[walk.rank] = core::array::from_fn(|operand| strides[operand][axis]);
                walk.rank += 1;
            }
        }
        if merge {
            walk.merge();
        }
        walk
    }

    /// Joins axes that run on into one another in every operand.
    fn merge(&mut self) {
        let mut last = 0;
        for axis in 1..self.rank {
            let size = self.sizes[axis];
            let runs_on = (0..N)
                .all(|operand| Some(self.strides[last][operand]) == self.strides[axis][operand].checked_mul(size));
            if runs_on {
                self.sizes[last] *= size;
                self.strides[last] = self.strides[axis];
            } else {
                last += 1;
                self.sizes[last] = size;
                self.strides[last] = self.strides[axis];
            }
        }
        self.rank = self.rank.min(last + 1);
    }

    /// Calls `visit` with every inner loop, in order.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(Run<N>)) {
        if self.sizes[..self.rank].contains(&0) {
            return;
        }
        let Some(inner) = self.rank.checked_sub(1) else {
            visit(Run { starts: [0; N], len: 1, steps: [0; N] });
            return;
        };
        let mut index = [0_usize; 8];
        let mut starts = [0_usize; N];
        loop {
            visit(Run { starts, len: self.sizes[inner], steps: self.strides[inner] });
            // the next position of the outer axes, like an odometer
            let mut axis = inner;
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                index[axis] += 1;
                if index[axis] < self.sizes[axis] {
                    for (start, stride) in starts.iter_mut().zip(self.strides[axis]) {
                        *start += stride;
                    }
                    break;
                }
                for (start, stride) in starts.iter_mut().zip(self.strides[axis]) {
                    *start -= stride * (self.sizes[axis] - 1);
                }
                index[axis] = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(walk: &Walk<1>) -> Vec<(usize, usize, usize)> {
        let mut runs = Vec::new();
        walk.for_each(|run| runs.push((run.starts[0], run.len, run.steps[0])));
        runs
    }

    #[test]
    fn contiguous_axes_become_one_loop() {
        assert_eq!(starts(&Walk::new(&[2, 3, 4], [&[12, 4, 1]])), [(0, 24, 1)]);
        assert_eq!(starts(&Walk::new(&[2, 1, 4], [&[4, 99, 1]])), [(0, 8, 1)]);
    }

    #[test]
    fn axes_follow_memory_unless_order_matters() {
        assert_eq!(starts(&Walk::new(&[2, 3], [&[1, 2]])), [(0, 6, 1)]);
        assert_eq!(starts(&Walk::row_major(&[2, 3], [&[1, 2]])), [(0, 3, 2), (1, 3, 2)]);
    }

    #[test]
    fn zero_dim_is_one_element_and_empty_is_none() {
        assert_eq!(starts(&Walk::new(&[], [&[]])), [(0, 1, 0)]);
        assert_eq!(starts(&Walk::new(&[3, 0], [&[1, 1]])), []);
    }
}
