//! Several lanes as the columns of a matrix, which a kernel computes together.
//! Uses the choice of instruction sets; used by `lanes`.

use super::simd::{self, Loop};
use crate::ops::kernel::{LaneColumns, LaneKernel};
use core::marker::PhantomData;

/// Where the elements and the results of columns are; steps are from row to row and from column to column, in elements.
#[derive(Clone, Copy)]
pub(super) struct ColumnBlock {
    pub(super) from: *const u8,
    pub(super) steps: [usize; 2],
    pub(super) to_steps: [usize; 2],
    /// Elements of a lane, and lanes.
    pub(super) rows: usize,
    pub(super) columns: usize,
}

/// The places of results: one buffer, or one for each of two results.
pub(super) trait Places<O>: Copy {
    /// Writes a result.
    ///
    /// # Safety
    /// There is such a place, which nobody else reads or writes.
    unsafe fn put(self, place: usize, result: O);
}
impl<O> Places<O> for *mut O {
    #[inline(always)]
    unsafe fn put(self, place: usize, result: O) {
        // SAFETY: the caller's promise.
        unsafe { self.add(place).write(result) }
    }
}
impl<O, P> Places<(O, P)> for (*mut O, *mut P) {
    #[inline(always)]
    unsafe fn put(self, place: usize, (first, second): (O, P)) {
        // SAFETY: the caller's promise.
        unsafe {
            self.0.add(place).write(first);
            self.1.add(place).write(second);
        }
    }
}

/// The columns of a block. Whoever makes it has found the elements and the places of their results, which are nobody else's.
pub(super) struct Together<A, O, W> {
    pub(super) block: ColumnBlock,
    pub(super) to: W,
    pub(super) types: PhantomData<fn(A) -> O>,
}

/// How many rows ahead elements are prefetched.
const AHEAD: usize = 2;

impl<A: Copy, O, W: Places<O>> Together<A, O, W> {
    /// The elements of a row that lie side by side.
    #[inline(always)]
    fn row(&self, row: usize) -> &[A] {
        let ColumnBlock { from, steps, rows, columns, .. } = self.block;
        assert!(row < rows && (steps[1] == 1 || columns == 1), "a row that lies side by side");
        let row = from.cast::<A>().wrapping_add(row * steps[0]);
        simd::prefetch_row_nearby(row.wrapping_add(AHEAD * steps[0]), columns);
        // SAFETY: whoever made this has found the elements.
        unsafe { core::slice::from_raw_parts(row, columns) }
    }
}

impl<A: Copy, O, W: Places<O>> LaneColumns<A, O> for Together<A, O, W> {
    #[inline(always)]
    fn rows(&self) -> usize {
        self.block.rows
    }
    #[inline(always)]
    fn columns(&self) -> usize {
        self.block.columns
    }
    #[inline(always)]
    fn has_dense_rows(&self) -> bool {
        let ColumnBlock { steps, to_steps, columns, .. } = self.block;
        columns == 1 || (steps[1] == 1 && to_steps[1] == 1)
    }
    #[inline(always)]
    fn see(&self, row: usize, mut show: impl FnMut(usize, A)) {
        let row = self.row(row);
        // (A counter that the compiler knows to be a column of `show`, too.)
        #[allow(clippy::needless_range_loop)]
        for column in 0..self.block.columns {
            show(column, row[column]);
        }
    }
    #[inline(always)]
    fn replace(&self, row: usize, mut compute: impl FnMut(usize, A) -> O) {
        let ColumnBlock { to_steps, columns, .. } = self.block;
        assert!(self.has_dense_rows(), "results that lie side by side");
        let (elements, first) = (self.row(row), row * to_steps[0]);
        #[allow(clippy::needless_range_loop)]
        for column in 0..columns {
            // SAFETY: whoever made this has found the places.
            unsafe { self.to.put(first + column, compute(column, elements[column])) }
        }
    }
    #[inline(always)]
    fn descend<R: Copy, const N: usize>(
        &self,
        column: usize,
        start: impl Fn(A) -> R,
        next: impl Fn(R, A, usize) -> R,
        result: impl Fn(R) -> O,
    ) {
        let ColumnBlock { from, steps, to_steps, rows, columns } = self.block;
        assert!(column + N <= columns, "columns that there are");
        if rows == 0 {
            return;
        }
        let from = from.cast::<A>().wrapping_add(column * steps[1]);
        let to = column * to_steps[1];
        // SAFETY: whoever made this has found the elements and the places, for all rows and columns.
        unsafe {
            let mut carried = [start(from.read()); N];
            for (lane, carried) in carried.iter_mut().enumerate().skip(1) {
                *carried = start(from.add(lane * steps[1]).read());
            }
            for row in 0..rows {
                for (lane, carried) in carried.iter_mut().enumerate() {
                    *carried = next(*carried, from.add(row * steps[0] + lane * steps[1]).read(), row);
                    self.to.put(to + row * to_steps[0] + lane * to_steps[1], result(*carried));
                }
            }
        }
    }
}

/// Computes the columns of a block.
pub(super) struct ColumnLoop<K, A, O, W, S> {
    pub(super) kernel: K,
    pub(super) lanes: Together<A, O, W>,
    pub(super) scratch: S,
    pub(super) types: PhantomData<fn(A) -> O>,
}
impl<K: LaneKernel<A, O>, A: Copy, O, W: Places<O>> Loop for ColumnLoop<K, A, O, W, K::Scratch> {
    type Output = ();
    #[inline(always)]
    fn run(mut self) {
        self.kernel.columns(&self.lanes, &mut self.scratch);
    }
}
