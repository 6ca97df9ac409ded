//! Visiting the elements of several operands in step: axes reordered to follow memory, merged where they run on, and
//! handed out as inner loops.
//!
//! Uses nothing; used by every loop over strided memory.

/// Axes of `N` operands, outermost first, without axes of size 1; operand 0 decides the order.
#[derive(Clone)]
pub(crate) struct Walk<const N: usize> {
    rank: usize,
    sizes: [usize; 8],
    strides: [[usize; N]; 8],
    starts: [usize; N],
}

/// One inner loop: where each operand starts (in elements from its own offset), how many steps, how far each step.
#[derive(Clone, Copy)]
pub(crate) struct Run<const N: usize> {
    pub starts: [usize; N],
    pub len: usize,
    pub steps: [usize; N],
}

impl<const N: usize> Walk<N> {
    /// `strides[i]` are operand `i`'s, broadcast to `sizes`. Axes are put in the order of operand 0's strides, so no
    /// two positions of operand 0 may share an element if it is written.
    pub(crate) fn new(sizes: &[usize], strides: [&[usize]; N]) -> Self {
        let mut walk = Self::in_order(sizes, strides);
        let axes = walk.rank;
        if axes > 1 {
            let mut order: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
            order[..axes].sort_by_key(|&axis| core::cmp::Reverse(walk.strides[axis][0]));
            let (old_sizes, old_strides) = (walk.sizes, walk.strides);
            for (to, &from) in order[..axes].iter().enumerate() {
                walk.sizes[to] = old_sizes[from];
                walk.strides[to] = old_strides[from];
            }
            walk.merge();
        }
        walk
    }

    /// The same in row-major order, whatever the strides.
    pub(crate) fn row_major(sizes: &[usize], strides: [&[usize]; N]) -> Self {
        let mut walk = Self::in_order(sizes, strides);
        walk.merge();
        walk
    }

    fn in_order(sizes: &[usize], strides: [&[usize]; N]) -> Self {
        let mut walk = Walk { rank: 0, sizes: [1; 8], strides: [[0; N]; 8], starts: [0; N] };
        for (axis, &size) in sizes.iter().enumerate() {
            if size != 1 {
                walk.sizes[walk.rank] = size;
                walk.strides[walk.rank] = core::array::from_fn(|operand| strides[operand][axis]);
                walk.rank += 1;
            }
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

    /// The same elements as up to `pieces` walks, along the longest axis. A piece of the last axis is a multiple of
    /// `multiple` elements.
    pub(crate) fn split(&self, pieces: usize, multiple: usize) -> Vec<Self> {
        let Some(axis) = (0..self.rank).max_by_key(|&axis| (self.sizes[axis], core::cmp::Reverse(axis))) else {
            return vec![self.clone()];
        };
        let size = self.sizes[axis];
        let mut length = size.div_ceil(pieces.max(1)).max(1);
        if axis + 1 == self.rank {
            length = length.next_multiple_of(multiple);
        }
        (0..size.div_ceil(length))
            .map(|piece| {
                let low = piece * length;
                let mut part = self.clone();
                part.sizes[axis] = length.min(size - low);
                for (start, stride) in part.starts.iter_mut().zip(self.strides[axis]) {
                    *start += low * stride;
                }
                part
            })
            .collect()
    }

    /// One run over elements side by side in every operand.
    #[inline]
    pub(crate) fn line(len: usize) -> Self {
        let mut walk = Walk { rank: 1, sizes: [1; 8], strides: [[0; N]; 8], starts: [0; N] };
        (walk.sizes[0], walk.strides[0]) = (len, [1; N]);
        walk
    }

    /// The inner loops, in order.
    #[inline]
    pub(crate) fn runs(&self) -> Runs<'_, N> {
        Runs { walk: self, index: [0; 8], starts: self.starts, done: self.sizes[..self.rank].contains(&0) }
    }

    /// The inner loops as planes of two axes, visited tile by tile where an operand runs along the other axis.
    #[inline]
    pub(crate) fn planes(&self) -> Planes<N> {
        let inner = self.rank.saturating_sub(1);
        // The axis that an operand would rather run along: the one in which its elements are closest, if not the last.
        let closer = |axis: usize| {
            let steps = (1..N).map(|operand| (self.strides[axis][operand], self.strides[inner][operand]));
            steps.filter(|&(there, here)| there > 0 && there < here).map(|(there, _)| there).min()
        };
        let other = (0..inner).filter_map(|axis| Some((closer(axis)?, axis))).min().map(|(_, axis)| axis);
        let mut outer = self.clone();
        let (size, steps) = (self.sizes[inner], self.strides[inner]);
        outer.rank = inner;
        let Some(axis) = other else {
            return Planes { outer, sizes: [1, size], steps: [[0; N], steps], tile: [1, size] };
        };
        let (across, across_steps) = (outer.sizes[axis], outer.strides[axis]);
        for axis in axis..inner - 1 {
            outer.sizes[axis] = outer.sizes[axis + 1];
            outer.strides[axis] = outer.strides[axis + 1];
        }
        outer.rank = inner - 1;
        Planes { outer, sizes: [across, size], steps: [across_steps, steps], tile: [TILE, TILE] }
    }
}

/// The side of a tile: two cache lines of `f32`.
pub(crate) const TILE: usize = 32;

/// Planes of two axes and the walk over the others.
pub(crate) struct Planes<const N: usize> {
    /// The axes outside of the planes.
    pub outer: Walk<N>,
    /// Lines in a plane, elements in a line.
    pub sizes: [usize; 2],
    /// From line to line, from element to element.
    pub steps: [[usize; N]; 2],
    /// How many lines and elements are visited before the next ones.
    pub tile: [usize; 2],
}

/// The inner loops of a walk.
pub(crate) struct Runs<'a, const N: usize> {
    walk: &'a Walk<N>,
    index: [usize; 8],
    starts: [usize; N],
    done: bool,
}

impl<const N: usize> Iterator for Runs<'_, N> {
    type Item = Run<N>;

    #[inline]
    fn next(&mut self) -> Option<Run<N>> {
        if self.done {
            return None;
        }
        let walk = self.walk;
        let Some(inner) = walk.rank.checked_sub(1) else {
            self.done = true;
            return Some(Run { starts: self.starts, len: 1, steps: [0; N] });
        };
        let run = Run { starts: self.starts, len: walk.sizes[inner], steps: walk.strides[inner] };
        // The next position of the outer axes, like an odometer.
        let mut axis = inner;
        loop {
            if axis == 0 {
                self.done = true;
                break;
            }
            axis -= 1;
            self.index[axis] += 1;
            if self.index[axis] < walk.sizes[axis] {
                for (start, stride) in self.starts.iter_mut().zip(walk.strides[axis]) {
                    *start += stride;
                }
                break;
            }
            for (start, stride) in self.starts.iter_mut().zip(walk.strides[axis]) {
                *start -= stride * (walk.sizes[axis] - 1);
            }
            self.index[axis] = 0;
        }
        Some(run)
    }
}
