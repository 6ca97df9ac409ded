//! A reducer's loops and merging as a table of functions over untyped memory, through which the rest of this folder (compiled once) calls
//! what is compiled per reducer and dtype.

#![allow(
    clippy::needless_range_loop,
    reason = "iterators are many more functions, compiled for each operation and dtype"
)]

use super::loops::{ReduceLines, ReduceRows};
use crate::cpu::bytes::Block16;
use crate::cpu::precompiled::or_precompiled;
use crate::cpu::simd::{self, Loop};
use crate::dtype::{DType, Element};
use crate::ops::formula::MOST_RESULTS;
use crate::ops::reduce::{Reducer, SeveralResults, TwoResults};
use core::marker::PhantomData;

/// Lines of contiguous elements.
#[derive(Clone, Copy)]
pub(crate) struct LineRun {
    /// The first element.
    pub from: *const u8,
    /// Stride between lines, in elements.
    pub step: usize,
    pub len: usize,
    /// The position of the first element, and its increment from line to line.
    pub position: usize,
    pub next: usize,
    /// Whether the data exceeds the caches, so that lines are read in memory order.
    pub exceeds_caches: bool,
}

/// Contiguous rows; each column accumulates into a result of its own.
#[derive(Clone, Copy)]
pub(crate) struct RowRun {
    /// The first element.
    pub from: *const u8,
    /// Stride between rows, in elements.
    pub step: usize,
    pub rows: usize,
    /// The position of the first row.
    pub position: usize,
    /// Whether the data exceeds the caches, so that rows are prefetched.
    pub exceeds_caches: bool,
}

/// Destinations of the results; offsets in elements.
#[derive(Clone, Copy)]
pub(crate) struct Destination {
    pub outs: [*mut u8; MOST_RESULTS],
    pub first: usize,
    /// Stride between results.
    pub step: usize,
    /// Number of elements reduced to each result.
    pub count: usize,
    /// Whether the reduction has a single result.
    pub is_single: bool,
}
// SAFETY: each thread writes its own places.
unsafe impl Send for Destination {}
// SAFETY: as above.
unsafe impl Sync for Destination {}

/// What the plan needs to know about a reduction over one dtype.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    /// Whether an empty reduction has a result.
    #[cfg_attr(not(feature = "any"), allow(dead_code))]
    pub has_identity: bool,
    pub(super) has_positions: bool,
    pub(super) by_blocks: bool,
    pub(super) has_blocks_of_rows: bool,
    pub(super) counts_repeats: bool,
    /// Time per element, relative to reading it.
    pub(super) cost: usize,
    /// Sizes of a partial result and of an element in bytes.
    pub(super) partial: usize,
    pub(crate) element: usize,
    /// The dtypes of the results.
    pub outs: [Option<DType>; MOST_RESULTS],
    /// The derivative.
    #[cfg(all(feature = "any", feature = "grad"))]
    pub slope: crate::ops::reduce::ReduceSlope,
    #[cfg(all(feature = "any", feature = "grad"))]
    pub numbers: [f64; 2],
}

/// The functions of one reduction over one dtype. Partial results are contiguous, in memory aligned for them.
///
/// # Safety
/// The caller passes places for as many elements, partial results and results as the arguments say; partial results that are read are
/// initialised.
pub(crate) trait ReduceLoops: Sync {
    /// The facts that the plan needs.
    fn facts(&self) -> Facts;
    /// Initialises partial results.
    unsafe fn start(&self, partials: *mut u8, count: usize);
    /// Reduces each line to one partial result.
    unsafe fn lines(&self, lines: LineRun, partials: *mut u8, count: usize);
    /// Accumulates rows into partial results, one per column.
    unsafe fn rows(&self, rows: RowRun, partials: *mut u8, columns: usize);
    /// Merges later partial results into earlier ones.
    unsafe fn merge(&self, earlier: *mut u8, later: *const u8, count: usize);
    /// Pushes partial results onto the stack of a binary counter that has seen `accumulated` others, merging as it
    /// carries. Returns the new height; the stack has room for one more.
    unsafe fn climb(
        &self,
        stack: *mut u8,
        height: usize,
        accumulated: usize,
        partials: *const u8,
        count: usize,
    ) -> usize;
    /// Writes results.
    unsafe fn finish(&self, places: Destination, partials: *const u8, count: usize);
}

/// A reduction that writes its first result.
#[repr(transparent)]
pub(crate) struct FirstOnly<A, R>(R, PhantomData<fn() -> A>);
/// A reduction that writes both results.
#[repr(transparent)]
pub(crate) struct WithSecond<A, R>(R, PhantomData<fn() -> A>);

/// A reduction that writes several results of one dtype.
#[repr(transparent)]
pub(super) struct All<A, R>(R, PhantomData<fn() -> A>);

/// A function that writes results.
struct Finish<F>(F);
impl<F: FnOnce()> Loop for Finish<F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        (self.0)();
    }
}

/// Implements [`ReduceLoops`]; `$finish` writes a result, `$single` says whether a single result may be computed differently.
macro_rules! functions {
    ($name:ident: $bound:ident in $find:ident, $outs:expr, $single:literal, |$reducer:ident, $places:ident, $at:ident, $partial:ident| $finish:expr) => {
        impl<A: Copy + 'static, R: $bound<A>> $name<A, R> {
            /// The functions of a reducer.
            pub(crate) const fn new(reducer: R) -> Self {
                $name(reducer, PhantomData)
            }
            /// The functions, compiled in this crate with the feature `precompiled`.
            #[inline]
            pub(super) fn loops(&self) -> &dyn ReduceLoops
            where
                A: Element,
            {
                or_precompiled!(self, $find(R::PRECOMPILED, A::DTYPE))
            }
            /// The reducer, for a GPU, which computes one result or two.
            #[cfg(all(feature = "cuda", feature = "any"))]
            #[allow(dead_code, reason = "a GPU reduces several results one by one")]
            pub(crate) fn reducer(&self) -> R {
                self.0
            }
        }
        impl<A: Copy + 'static, R: $bound<A>> ReduceLoops for $name<A, R> {
            fn facts(&self) -> Facts {
                const { assert!(align_of::<R::Partial>() <= align_of::<Block16>()) }
                Facts {
                    has_identity: self.0.has_identity(),
                    has_positions: R::HAS_POSITIONS,
                    by_blocks: R::PREFERS_BLOCKS,
                    has_blocks_of_rows: R::HAS_BLOCKS_OF_ROWS,
                    counts_repeats: R::COUNTS_REPEATS,
                    cost: self.0.cost(),
                    partial: size_of::<R::Partial>(),
                    element: size_of::<A>(),
                    outs: $outs,
                    #[cfg(all(feature = "any", feature = "grad"))]
                    slope: R::SLOPE,
                    #[cfg(all(feature = "any", feature = "grad"))]
                    numbers: self.0.numbers(),
                }
            }
            unsafe fn start(&self, partials: *mut u8, count: usize) {
                for at in 0..count {
                    // SAFETY: the caller's promise.
                    unsafe { partials.cast::<R::Partial>().add(at).write(self.0.start()) }
                }
            }
            unsafe fn lines(&self, lines: LineRun, partials: *mut u8, count: usize) {
                let LineRun { from, step, len, position, next, exceeds_caches } = lines;
                // SAFETY: the caller's promise.
                let partials = unsafe { core::slice::from_raw_parts_mut(partials.cast(), count) };
                simd::dispatch(ReduceLines::<A, R> {
                    reducer: self.0,
                    from: from.cast(),
                    step,
                    len,
                    position,
                    next,
                    exceeds_caches,
                    partials,
                });
            }
            unsafe fn rows(&self, rows: RowRun, partials: *mut u8, columns: usize) {
                if const { R::PREFERS_BLOCKS && !R::HAS_BLOCKS_OF_ROWS } {
                    unreachable!("a plan has no rows for what is reduced in blocks");
                }
                let RowRun { from, step, rows, position, exceeds_caches } = rows;
                // SAFETY: the caller's promise.
                let partials = unsafe { core::slice::from_raw_parts_mut(partials.cast(), columns) };
                simd::dispatch(ReduceRows::<A, R> {
                    reducer: self.0,
                    from: from.cast(),
                    step,
                    rows,
                    position,
                    exceeds_caches,
                    partials,
                });
            }
            unsafe fn merge(&self, earlier: *mut u8, later: *const u8, count: usize) {
                // SAFETY: the caller's promise; no partial result is both earlier and later.
                let (earlier, later) = unsafe {
                    (
                        core::slice::from_raw_parts_mut(earlier.cast::<R::Partial>(), count),
                        core::slice::from_raw_parts(later.cast::<R::Partial>(), count),
                    )
                };
                for at in 0..count {
                    earlier[at] = self.0.merge(earlier[at], later[at]);
                }
            }
            unsafe fn climb(
                &self,
                stack: *mut u8,
                mut height: usize,
                accumulated: usize,
                partials: *const u8,
                count: usize,
            ) -> usize {
                let (stack, partials) = (stack.cast::<R::Partial>(), partials.cast::<R::Partial>());
                for at in 0..count {
                    // SAFETY: the caller's promise; as many lower rows are merged as the counter carries, and the stack has them.
                    unsafe {
                        let mut merged = partials.add(at).read();
                        for _ in 0..(accumulated + at).trailing_ones() {
                            height -= 1;
                            merged = self.0.merge(stack.add(height).read(), merged);
                        }
                        stack.add(height).write(merged);
                    }
                    height += 1;
                }
                height
            }
            unsafe fn finish(&self, $places: Destination, partials: *const u8, count: usize) {
                let $reducer = if $single && $places.is_single { self.0.single() } else { self.0 };
                let write = || {
                    for at in 0..count {
                        let $at = $places.first + at * $places.step;
                        // SAFETY: the caller's promise.
                        unsafe {
                            let $partial = partials.cast::<R::Partial>().add(at).read();
                            $finish
                        }
                    }
                };
                if const { R::FINISH_IS_COSTLY } { simd::dispatch(Finish(write)) } else { write() }
            }
        }
    };
}
functions!(FirstOnly: Reducer in one_result, [Some(R::Out::DTYPE), None, None, None], true, |reducer, places, at, partial| {
    places.outs[0].cast::<R::Out>().add(at).write(reducer.finish(partial, places.count));
});
functions!(WithSecond: TwoResults in two_results, [Some(R::Out::DTYPE), Some(R::Second::DTYPE), None, None], false, |reducer, places, at, partial| {
    places.outs[0].cast::<R::Out>().add(at).write(reducer.finish(partial, places.count));
    places.outs[1].cast::<R::Second>().add(at).write(reducer.second(partial, places.count));
});
functions!(All: SeveralResults in one_result, core::array::from_fn(|at| (at < R::RESULTS).then_some(R::Out::DTYPE)), false, |reducer, places, at, partial| {
    let results = reducer.results(partial);
    for which in 0..R::RESULTS {
        places.outs[which].cast::<R::Out>().add(at).write(results[which]);
    }
});
