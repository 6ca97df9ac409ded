//! Several lanes as the columns of a matrix, which a kernel computes together.

#![allow(
    clippy::needless_range_loop,
    reason = "iterators are many more functions, compiled for each operation and dtype"
)]

use super::simd::{self, Loop};
use crate::ops::kernel::{LaneColumns, LaneKernel, SCAN_BLOCK};
use core::marker::PhantomData;

/// Start and strides of the columns' elements and results; strides from row to row and from column to column, in elements.
#[derive(Clone, Copy)]
pub(super) struct ColumnBlock {
    pub(super) from: *const u8,
    pub(super) steps: [usize; 2],
    pub(super) to_steps: [usize; 2],
    /// Elements per lane, and number of lanes.
    pub(super) rows: usize,
    pub(super) columns: usize,
}

/// Where results are written: one buffer, or two buffers for pairs of results.
pub(super) trait Places<O>: Copy {
    /// Writes a result.
    ///
    /// # Safety
    /// `place` is in bounds, and nobody else reads or writes it.
    unsafe fn put(self, place: usize, result: O);
    /// Writes a result to each place of a block.
    ///
    /// # Safety
    /// As for [`put`](Self::put), for each place.
    unsafe fn put_block(self, place: usize, result: impl Fn() -> O);
    /// Prefetches contiguous places, which need not be valid.
    fn prefetch(self, place: usize, len: usize);
}
impl<O> Places<O> for *mut O {
    #[inline(always)]
    unsafe fn put(self, place: usize, result: O) {
        // SAFETY: the caller's promise.
        unsafe { self.add(place).write(result) }
    }
    #[inline(always)]
    unsafe fn put_block(self, place: usize, result: impl Fn() -> O) {
        for at in place..place + SCAN_BLOCK {
            // SAFETY: the caller's promise.
            unsafe { self.add(at).write(result()) }
        }
    }
    #[inline(always)]
    fn prefetch(self, place: usize, len: usize) {
        simd::prefetch_row(self.wrapping_add(place).cast_const(), len);
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
    /// One buffer after the other, so that each is written with vector stores.
    #[inline(always)]
    unsafe fn put_block(self, place: usize, result: impl Fn() -> (O, P)) {
        // SAFETY: the caller's promise.
        unsafe {
            self.0.put_block(place, || result().0);
            self.1.put_block(place, || result().1);
        }
    }
    #[inline(always)]
    fn prefetch(self, place: usize, len: usize) {
        self.0.prefetch(place, len);
        self.1.prefetch(place, len);
    }
}

/// The columns of a block. Its maker has checked that the elements exist and that the result places are exclusively its own.
pub(super) struct Together<A, O, W> {
    pub(super) block: ColumnBlock,
    pub(super) to: W,
    pub(super) types: PhantomData<fn(A) -> O>,
}

/// Rows of prefetch distance.
const AHEAD: usize = 2;

impl<A: Copy, O, W: Places<O>> Together<A, O, W> {
    /// The elements of a row, which are contiguous.
    #[inline(always)]
    fn row(&self, row: usize) -> &[A] {
        let ColumnBlock { from, steps, rows, columns, .. } = self.block;
        assert!(row < rows && (steps[1] == 1 || columns == 1), "a row that lies side by side");
        let row = from.cast::<A>().wrapping_add(row * steps[0]);
        simd::prefetch_row_nearby(row.wrapping_add(AHEAD * steps[0]), columns);
        // SAFETY: the maker of this block has checked the elements.
        unsafe { core::slice::from_raw_parts(row, columns) }
    }
}

/// Lanes of up to this many bytes have the next ones prefetched.
const SHORT: usize = 2048;

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
        // (A counter, so that the compiler knows inside `show`, too, that `column` is in bounds.)
        for column in 0..self.block.columns {
            show(column, row[column]);
        }
    }
    #[inline(always)]
    fn replace(&self, row: usize, mut compute: impl FnMut(usize, A) -> O) {
        let ColumnBlock { to_steps, columns, .. } = self.block;
        assert!(self.has_dense_rows(), "results that lie side by side");
        let (elements, first) = (self.row(row), row * to_steps[0]);
        for column in 0..columns {
            // SAFETY: the maker of this block has checked the places.
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
        // Prefetches the next short lanes: the hardware prefetcher does not follow the jumps between them.
        if N > 1 && steps[0] == 1 && to_steps[0] == 1 && rows * size_of::<A>() <= SHORT {
            for lane in N..2 * N {
                simd::prefetch_row(from.wrapping_add(lane * steps[1]), rows);
                self.to.prefetch(to + lane * to_steps[1], rows);
            }
        }
        // SAFETY: the maker of this block has checked elements and places for all rows and columns.
        unsafe {
            let mut carried = [start(from.read()); N];
            for lane in 1..N {
                carried[lane] = start(from.add(lane * steps[1]).read());
            }
            for row in 0..rows {
                for lane in 0..N {
                    carried[lane] = next(carried[lane], from.add(row * steps[0] + lane * steps[1]).read(), row);
                    self.to.put(to + row * to_steps[0] + lane * to_steps[1], result(carried[lane]));
                }
            }
        }
    }
    #[inline(always)]
    fn descend_in_blocks<R: Copy>(
        &self,
        column: usize,
        start: impl Fn(A) -> R,
        next: impl Fn(R, A, usize) -> R,
        result: impl Fn(R) -> O,
        keeps: impl Fn(R, &[A; SCAN_BLOCK]) -> bool,
    ) {
        let ColumnBlock { from, steps, to_steps, rows, columns } = self.block;
        assert!(column < columns, "a column that there is");
        if [steps[0], to_steps[0]] != [1; 2] {
            return self.descend::<R, 1>(column, start, next, result);
        }
        let from = from.cast::<A>().wrapping_add(column * steps[1]);
        // SAFETY: the maker of this block has checked the column's elements, which are contiguous.
        let elements = unsafe { core::slice::from_raw_parts(from, rows) };
        let Some(&first) = elements.first() else { return };
        let (mut carried, mut row, to) = (start(first), 0, column * to_steps[1]);
        // SAFETY: the maker of this block has checked that there is a place per element.
        let put = |row: usize, carried: R| unsafe { self.to.put(to + row, result(carried)) };
        let (blocks, rest) = elements.as_chunks();
        for block in blocks {
            if keeps(carried, block) {
                // SAFETY: as above.
                unsafe { self.to.put_block(to + row, || result(carried)) }
            } else {
                for (at, &x) in block.iter().enumerate() {
                    carried = next(carried, x, row + at);
                    put(row + at, carried);
                }
            }
            row += SCAN_BLOCK;
        }
        for (at, &x) in rest.iter().enumerate() {
            carried = next(carried, x, row + at);
            put(row + at, carried);
        }
    }
}

/// The same columns, computed one after another: less code.
struct OneByOne<'a, T>(&'a T);
impl<A, O, T: LaneColumns<A, O>> LaneColumns<A, O> for OneByOne<'_, T> {
    #[inline(always)]
    fn rows(&self) -> usize {
        self.0.rows()
    }
    #[inline(always)]
    fn columns(&self) -> usize {
        self.0.columns()
    }
    #[inline(always)]
    fn has_dense_rows(&self) -> bool {
        self.0.has_dense_rows()
    }
    #[inline(always)]
    fn see(&self, row: usize, show: impl FnMut(usize, A)) {
        self.0.see(row, show);
    }
    #[inline(always)]
    fn replace(&self, row: usize, compute: impl FnMut(usize, A) -> O) {
        self.0.replace(row, compute);
    }
    #[inline(always)]
    fn descend<R: Copy, const N: usize>(
        &self,
        column: usize,
        start: impl Fn(A) -> R,
        next: impl Fn(R, A, usize) -> R,
        result: impl Fn(R) -> O,
    ) {
        let mut lane = 0;
        while lane < N {
            self.0.descend::<R, 1>(column + lane, &start, &next, &result);
            lane = simd::next_alone(lane);
        }
    }
    #[inline(always)]
    fn descend_in_blocks<R: Copy>(
        &self,
        column: usize,
        start: impl Fn(A) -> R,
        next: impl Fn(R, A, usize) -> R,
        result: impl Fn(R) -> O,
        _: impl Fn(R, &[A; SCAN_BLOCK]) -> bool,
    ) {
        self.0.descend::<R, 1>(column, start, next, result);
    }
}

/// Computes the columns of a block.
pub(super) struct ColumnLoop<'a, K: LaneKernel<A, O>, A, O, W> {
    pub(super) kernel: K,
    pub(super) lanes: Together<A, O, W>,
    pub(super) scratch: &'a mut K::Scratch,
}
impl<K: LaneKernel<A, O>, A: Copy, O, W: Places<O>> Loop for ColumnLoop<'_, K, A, O, W> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.kernel.columns(&self.lanes, self.scratch);
    }
    #[inline(always)]
    fn run_small(self) {
        self.kernel.columns(&OneByOne(&self.lanes), self.scratch);
    }
}
