//! A single lane as columns.

use crate::ops::kernel::{LaneColumns, SCAN_BLOCK};
use core::cell::Cell;

/// The elements and the places of the results; the shorter one determines the length.
pub(crate) struct OneLane<'a, A, O> {
    from: &'a [A],
    to: &'a [Cell<O>],
}
impl<'a, A, O> OneLane<'a, A, O> {
    pub(crate) fn new(from: &'a [A], to: &'a mut [O]) -> Self {
        OneLane { from, to: Cell::from_mut(to).as_slice_of_cells() }
    }
}
impl<A: Copy, O> LaneColumns<A, O> for OneLane<'_, A, O> {
    fn rows(&self) -> usize {
        self.from.len().min(self.to.len())
    }
    fn columns(&self) -> usize {
        1
    }
    fn has_dense_rows(&self) -> bool {
        true
    }
    fn see(&self, row: usize, mut show: impl FnMut(usize, A)) {
        show(0, self.from[row]);
    }
    fn replace(&self, row: usize, mut compute: impl FnMut(usize, A) -> O) {
        self.to[row].set(compute(0, self.from[row]));
    }
    fn descend<R: Copy, const N: usize>(
        &self,
        _: usize,
        start: impl Fn(A) -> R,
        next: impl Fn(R, A, usize) -> R,
        result: impl Fn(R) -> O,
    ) {
        let Some(&first) = self.from.first() else { return };
        let mut carried = start(first);
        for (row, (&x, to)) in self.from.iter().zip(self.to).enumerate() {
            carried = next(carried, x, row);
            to.set(result(carried));
        }
    }
    fn descend_in_blocks<R: Copy>(
        &self,
        column: usize,
        start: impl Fn(A) -> R,
        next: impl Fn(R, A, usize) -> R,
        result: impl Fn(R) -> O,
        _: impl Fn(R, &[A; SCAN_BLOCK]) -> bool,
    ) {
        self.descend::<R, 1>(column, start, next, result);
    }
}
