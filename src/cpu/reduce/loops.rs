//! The loops of a reduction, compiled for each reducer, dtype and instruction set.

#![allow(
    clippy::needless_range_loop,
    reason = "iterators are many more functions, compiled for each operation and dtype"
)]

use super::plan::BLOCK;
use crate::cpu::convert;
use crate::cpu::simd::{self, Loop};
use crate::dtype::f16;
use crate::ops::reduce::{MIN_WIDE, Reducer, interleave};
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Rows accumulated together.
const AHEAD: usize = 4;
/// Lines accumulated together.
const TOGETHER: usize = 4;

/// Reduces each line to a partial result.
pub(super) struct ReduceLines<'a, A: Copy + 'static, R: Reducer<A>> {
    pub(super) reducer: R,
    pub(super) from: *const A,
    pub(super) step: usize,
    pub(super) len: usize,
    pub(super) position: usize,
    pub(super) next: usize,
    pub(super) exceeds_caches: bool,
    /// One per line.
    pub(super) partials: &'a mut [MaybeUninit<R::Partial>],
}
impl<A: Copy + 'static, R: Reducer<A>> Loop for ReduceLines<'_, A, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // (Copies for vectors run where the conversion is there: what takes its place need not be compiled for them.)
        if const { R::WIDENS_F16 && cfg!(all(target_arch = "x86_64", not(debug_assertions))) } {
            return self.widened();
        }
        if const { R::WIDENS_F16 } && convert::is_fast() {
            return self.widened();
        }
        self.accumulated();
    }
    #[inline(always)]
    fn run_small(self) {
        let ReduceLines { reducer, from, step, len, position, next, partials, .. } = self;
        for (line, partial) in partials.iter_mut().enumerate() {
            // SAFETY: as in `accumulated`.
            let elements = unsafe { core::slice::from_raw_parts(from.add(line * step), len) };
            partial.write(reducer.block_small(elements, position + line * next));
        }
    }
}
impl<A: Copy + 'static, R: Reducer<A>> ReduceLines<'_, A, R> {
    #[inline(always)]
    fn accumulated(self) {
        let ReduceLines { reducer, from, step, len, position, next, exceeds_caches, partials } = self;
        // SAFETY: the maker of this loop has checked the elements of one line per partial result.
        let elements = |line: usize| unsafe { core::slice::from_raw_parts(from.add(line * step), len) };
        // Other partial results do not stay in registers.
        if const { R::INTERLEAVES && size_of::<A>() == 4 && size_of::<R::Partial>() == 4 && !R::HAS_POSITIONS }
            && len >= MIN_WIDE
            && reducer.interleaves()
        {
            // Data beyond the caches is read in memory order. (The order of summation is the same either way.)
            let (groups, others) =
                if exceeds_caches { (&mut [][..], partials) } else { partials.as_chunks_mut::<TOGETHER>() };
            let mut line = 0;
            for group in groups {
                let lines = [elements(line), elements(line + 1), elements(line + 2), elements(line + 3)];
                let accumulated = reducer.four_lines(lines);
                for at in 0..TOGETHER {
                    group[at].write(accumulated[at]);
                }
                line += TOGETHER;
            }
            for partial in others {
                partial.write(reducer.block(elements(line), 0));
                line += 1;
            }
            return;
        }
        for (line, partial) in partials.iter_mut().enumerate() {
            partial.write(reducer.block(elements(line), position + line * next));
        }
    }

    /// `f16` lines, widened to `f32` a few at a time.
    #[inline(always)]
    fn widened(self) {
        let ReduceLines { reducer, from, step, len, position, next, partials, .. } = self;
        let mut buffer = WideBuffer([const { MaybeUninit::uninit() }; TOGETHER * BLOCK]);
        let buffer: *mut f32 = buffer.0.as_mut_ptr().cast();
        assert!(len <= BLOCK, "no line is longer than a block");
        let fitting = (TOGETHER * BLOCK / len).max(1);
        for (group, some) in partials.chunks_mut(fitting).enumerate() {
            let first = group * fitting;
            for line in 0..some.len() {
                // SAFETY: as in `run`; these elements are `f16`, and the buffer has room for these lines.
                unsafe { convert::widen::<f16>(from.add((first + line) * step).cast(), buffer.add(line * len), len) }
            }
            let reducer = Wide::<A, R>(reducer, PhantomData);
            ReduceLines {
                reducer,
                from: buffer.cast_const(),
                step: len,
                len,
                position,
                next,
                exceeds_caches: false,
                partials: some,
            }
            .accumulated();
        }
    }
}

/// A buffer for widened lines, aligned so that vectors do not straddle cache lines.
#[repr(align(64))]
struct WideBuffer([MaybeUninit<f32>; TOGETHER * BLOCK]);

/// A reducer of `f16` that takes `f32`.
struct Wide<A, R>(R, PhantomData<fn() -> A>);
impl<A, R: Copy> Clone for Wide<A, R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A, R: Copy> Copy for Wide<A, R> {}
impl<A: Copy + 'static, R: Reducer<A>> Reducer<f32> for Wide<A, R> {
    type Partial = R::Partial;
    type Out = R::Out;
    #[inline(always)]
    fn start(self) -> R::Partial {
        self.0.start()
    }
    #[inline(always)]
    fn accumulate(self, partial: R::Partial, element: f32, _: usize) -> R::Partial {
        self.0.accumulate_wide(partial, element)
    }
    #[inline(always)]
    fn merge(self, one: R::Partial, other: R::Partial) -> R::Partial {
        self.0.merge(one, other)
    }
    const INTERLEAVES: bool = true;
    #[inline(always)]
    fn four_lines(self, lines: [&[f32]; 4]) -> [R::Partial; 4] {
        interleave(self, lines)
    }
    fn finish(self, partial: R::Partial, count: usize) -> R::Out {
        self.0.finish(partial, count)
    }
}

/// Accumulates rows into partial results, one per column.
pub(super) struct ReduceRows<'a, A: Copy + 'static, R: Reducer<A>> {
    pub(super) reducer: R,
    pub(super) from: *const A,
    pub(super) step: usize,
    pub(super) rows: usize,
    pub(super) position: usize,
    pub(super) exceeds_caches: bool,
    pub(super) partials: &'a mut [R::Partial],
}
impl<A: Copy + 'static, R: Reducer<A>> Loop for ReduceRows<'_, A, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let ReduceRows { reducer, from, step, rows, position, exceeds_caches, partials } = self;
        let columns = partials.len();
        // SAFETY: the maker of this loop has checked the elements of these rows, one per partial result.
        let row = |at: usize| unsafe { core::slice::from_raw_parts(from.add(at * step), columns) };
        if const { R::HAS_BLOCKS_OF_ROWS } {
            return reducer.block_of_rows(partials, rows, row);
        }
        let mut at = 0;
        while at + AHEAD <= rows {
            let some = [row(at), row(at + 1), row(at + 2), row(at + 3)];
            if exceeds_caches {
                // Prefetches the next rows, or the memory after these.
                let ahead = if at + 2 * AHEAD <= rows { AHEAD * step } else { columns };
                let (place, size) = (from.wrapping_add(at * step + ahead), size_of::<A>());
                simd::prefetch_rows_nearby(place.cast(), AHEAD, step * size, columns * size);
            }
            reducer.four_rows(partials, some, position + at);
            at += AHEAD;
        }
        while at < rows {
            let row = row(at);
            for column in 0..columns {
                partials[column] = reducer.accumulate(partials[column], row[column], position + at);
            }
            at += 1;
        }
    }
    #[inline(always)]
    fn run_small(self) {
        if const { R::HAS_BLOCKS_OF_ROWS } {
            return self.run();
        }
        let ReduceRows { reducer, from, step, rows, position, partials, .. } = self;
        for at in 0..rows {
            let mut column = 0;
            while column < partials.len() {
                // SAFETY: as in `run`.
                let element = unsafe { from.add(at * step + column).read() };
                partials[column] = reducer.accumulate(partials[column], element, position + at);
                column = simd::next_alone(column);
            }
        }
    }
}
