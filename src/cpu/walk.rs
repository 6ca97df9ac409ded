//! Walks: visit the elements of several strided operands in lockstep, as a sequence of inner loops. Axes are reordered to follow memory and
//! merged where possible.

use core::ops::Range;

/// Axes of `N` operands, outermost first, without axes of size 1; operand 0 decides the order.
#[derive(Clone)]
pub(crate) struct Walk<const N: usize> {
    rank: usize,
    /// Whether the last two axes are visited in tiles, because an operand is contiguous along the other one.
    tiled: bool,
    sizes: [usize; 8],
    strides: [[usize; N]; 8],
    starts: [usize; N],
}

/// One inner loop: the start of each operand (in elements), the length, and the step of each operand.
#[derive(Clone, Copy)]
pub(crate) struct Run<const N: usize> {
    pub starts: [usize; N],
    pub len: usize,
    pub steps: [usize; N],
}

impl<const N: usize> Walk<N> {
    /// `strides[i]` are operand `i`'s, broadcast to `sizes`. Axes are sorted by operand 0's strides; if operand 0 is
    /// written, no two of its positions may share an element.
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
            walk.tile();
        }
        walk
    }

    /// If an operand has a smaller stride along another axis than along the last, moves that axis next to the last
    /// and marks the walk as tiled.
    fn tile(&mut self) {
        let Some(inner) = self.rank.checked_sub(1) else { return };
        let closer = |axis: usize| {
            let steps = (1..N).map(|operand| (self.strides[axis][operand], self.strides[inner][operand]));
            steps.filter(|&(there, here)| there > 0 && there < here).map(|(there, _)| there).min()
        };
        let closest = (0..inner).filter_map(|axis| Some((closer(axis)?, axis))).min();
        if let Some((_, axis)) = closest {
            self.sizes[axis..inner].rotate_left(1);
            self.strides[axis..inner].rotate_left(1);
            self.tiled = true;
        }
    }

    /// A walk in row-major order, whatever the strides.
    pub(crate) fn row_major(sizes: &[usize], strides: [&[usize]; N]) -> Self {
        let mut walk = Self::in_order(sizes, strides);
        walk.merge();
        walk
    }

    fn in_order(sizes: &[usize], strides: [&[usize]; N]) -> Self {
        let mut walk = Walk { rank: 0, tiled: false, sizes: [1; 8], strides: [[0; N]; 8], starts: [0; N] };
        for (axis, &size) in sizes.iter().enumerate() {
            if size != 1 {
                walk.sizes[walk.rank] = size;
                walk.strides[walk.rank] = core::array::from_fn(|operand| strides[operand][axis]);
                walk.rank += 1;
            }
        }
        walk
    }

    /// Merges adjacent axes that every operand traverses as one.
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

    /// Splits an axis into up to `pieces` walks: the outermost axis that divides evenly enough, so that threads write far apart, else the
    /// longest one. Pieces of the last axis are multiples of `multiple` elements.
    pub(crate) fn split(&self, pieces: usize, multiple: usize) -> Vec<Self> {
        let pieces = pieces.max(1);
        let is_even = |&axis: &usize| self.sizes[axis] >= 8 * pieces || self.sizes[axis].is_multiple_of(pieces);
        let longest = || (0..self.rank).max_by_key(|&axis| (self.sizes[axis], core::cmp::Reverse(axis)));
        let Some(axis) = (0..self.rank).find(is_even).or_else(longest) else {
            return vec![self.clone()];
        };
        let size = self.sizes[axis];
        let mut length = size.div_ceil(pieces).max(1);
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

    /// One run over contiguous elements.
    #[inline]
    pub(crate) fn line(len: usize) -> Self {
        let mut walk = Walk { rank: 1, tiled: false, sizes: [1; 8], strides: [[0; N]; 8], starts: [0; N] };
        (walk.sizes[0], walk.strides[0]) = (len, [1; N]);
        walk
    }

    /// The walk's run, if it has exactly one.
    #[inline]
    pub(crate) fn line_run(&self) -> Option<Run<N>> {
        match self.rank {
            0 => Some(Run { starts: self.starts, len: 1, steps: [0; N] }),
            1 => Some(Run { starts: self.starts, len: self.sizes[0], steps: self.strides[0] }),
            _ => None,
        }
    }

    /// The inner loops, in order.
    #[inline]
    pub(crate) fn runs(&self) -> Runs<'_, N> {
        self.runs_of(self.rank)
    }

    /// The inner loops over a range of elements, counted in the order of the walk, which is not tiled: the first and the last may be parts
    /// of one.
    pub(crate) fn runs_between(&self, range: Range<usize>) -> impl Iterator<Item = Run<N>> {
        let mut runs = self.runs();
        let inner = self.rank.saturating_sub(1);
        let size = self.sizes[inner].max(1);
        let (mut line, mut skipped, mut left) = (range.start / size, range.start % size, range.len());
        for axis in (0..inner).rev() {
            let size = self.sizes[axis].max(1);
            runs.index[axis] = line % size;
            line /= size;
            for (start, stride) in runs.starts.iter_mut().zip(self.strides[axis]) {
                *start += runs.index[axis] * stride;
            }
        }
        core::iter::from_fn(move || {
            let mut run = if left == 0 { None } else { runs.next() }?;
            for (start, step) in run.starts.iter_mut().zip(run.steps) {
                *start += skipped * step;
            }
            run.len = (run.len - skipped).min(left);
            (skipped, left) = (0, left - run.len);
            Some(run)
        })
    }

    /// The inner loops of the first `rank` axes.
    #[inline]
    fn runs_of(&self, rank: usize) -> Runs<'_, N> {
        Runs { walk: self, rank, index: [0; 8], starts: self.starts, done: self.sizes[..self.rank].contains(&0) }
    }

    /// The inner loops as planes of two axes, visited tile by tile if the walk is tiled.
    #[inline]
    pub(crate) fn planes(&self) -> Planes<'_, N> {
        let Some(inner) = self.rank.checked_sub(1) else {
            return Planes { outer: self.runs_of(0), sizes: [1, 1], steps: [[0; N]; 2], is_tiled: false };
        };
        let (size, steps) = (self.sizes[inner], self.strides[inner]);
        if !self.tiled {
            return Planes { outer: self.runs_of(inner), sizes: [1, size], steps: [[0; N], steps], is_tiled: false };
        }
        let across = inner - 1;
        Planes {
            outer: self.runs_of(across),
            sizes: [self.sizes[across], size],
            steps: [self.strides[across], steps],
            is_tiled: true,
        }
    }
}

/// The side of a tile.
pub(crate) const TILE: usize = 32;

/// The side of a transposed tile for elements of `bytes` bytes, which fits L1.
pub(crate) const fn side(bytes: usize) -> usize {
    if bytes <= 4 { 2 * TILE } else { TILE }
}

/// Planes of two axes, and the runs over the other axes.
pub(crate) struct Planes<'a, const N: usize> {
    /// The runs over the outer axes.
    pub outer: Runs<'a, N>,
    /// Lines per plane, elements per line.
    pub sizes: [usize; 2],
    /// From line to line, from element to element.
    pub steps: [[usize; N]; 2],
    /// Whether planes are visited in tiles.
    pub is_tiled: bool,
}

/// The inner loops of a walk.
pub(crate) struct Runs<'a, const N: usize> {
    walk: &'a Walk<N>,
    rank: usize,
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
        let Some(inner) = self.rank.checked_sub(1) else {
            self.done = true;
            return Some(Run { starts: self.starts, len: 1, steps: [0; N] });
        };
        let run = Run { starts: self.starts, len: walk.sizes[inner], steps: walk.strides[inner] };
        // Advances the outer axes like an odometer.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_are_divided_between_neighbours_where_that_is_even() {
        // (A transposed matrix, repeated along the last axis: no axes can be merged.)
        let sizes = [4, 3, 100];
        let walk = Walk::new(&sizes, [&[300, 100, 1], &[1, 4, 0]]);
        let starts =
            |pieces: usize| -> Vec<usize> { walk.split(pieces, 1).iter().map(|part| part.starts[0]).collect() };
        assert_eq!(starts(2), [0, 600]);
        assert_eq!(starts(3), [0, 100, 200]);
        // No axis divides evenly: the longest.
        assert_eq!(starts(7), [0, 15, 30, 45, 60, 75, 90]);
        for pieces in 1..9 {
            let mut places: Vec<usize> = walk.split(pieces, 1).iter().flat_map(reached).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..1200), "{pieces}");
        }
    }

    #[test]
    fn a_range_of_a_walk_is_what_lies_between() {
        for (sizes, strides) in
            [(&[2, 3, 4][..], &[12, 1, 3][..]), (&[5], &[2]), (&[], &[]), (&[3, 1, 2], &[2, 7, 1]), (&[4, 3], &[0, 1])]
        {
            let walk = Walk::row_major(sizes, [strides]);
            let places =
                |run: Run<1>| (0..run.len).map(move |at| run.starts[0] + at * run.steps[0]).collect::<Vec<_>>();
            let all: Vec<usize> = walk.runs().flat_map(places).collect();
            for start in 0..=all.len() {
                for end in start..=all.len() {
                    let between: Vec<usize> = walk.runs_between(start..end).flat_map(places).collect();
                    assert_eq!(between, all[start..end], "{sizes:?} {strides:?} {start}..{end}");
                }
            }
        }
    }

    /// The places of operand 0.
    fn reached(walk: &Walk<2>) -> Vec<usize> {
        let inner = |run: Run<2>| (0..run.len).map(move |at| run.starts[0] + at * run.steps[0]);
        walk.runs().flat_map(inner).collect()
    }
}
