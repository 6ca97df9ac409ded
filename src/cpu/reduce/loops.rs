//! The part of a reduction that is compiled for each reducer and dtype: its loops, for each instruction set, and the
//! merging of partial results. The rest of this folder calls it through a table of functions over untyped memory, and
//! is compiled once.

use super::plan::BLOCK;
use crate::cpu::bytes::Block16;
use crate::cpu::convert;
use crate::cpu::simd::{self, Loop};
use crate::dtype::{DType, Element, f16};
use crate::ops::reduce::{MIN_WIDE, Reducer, TwoResults, interleave};
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Rows accumulated at once.
const AHEAD: usize = 4;
/// Lines accumulated at once.
const TOGETHER: usize = 4;

/// Lines of contiguous elements.
#[derive(Clone, Copy)]
pub(crate) struct LineRun {
    /// The first element.
    pub from: *const u8,
    /// From line to line, in elements.
    pub step: usize,
    pub len: usize,
    /// The position of the first element, and its increment from line to line.
    pub position: usize,
    pub next: usize,
    /// Whether the data is larger than the caches, so that lines are taken in memory order.
    pub exceeds_caches: bool,
}

/// Contiguous rows; each column accumulates into its own result.
#[derive(Clone, Copy)]
pub(crate) struct RowRun {
    /// The first element.
    pub from: *const u8,
    /// From row to row, in elements.
    pub step: usize,
    pub rows: usize,
    /// The position of the first row.
    pub position: usize,
    /// Whether the data is larger than the caches, so that rows are prefetched.
    pub exceeds_caches: bool,
}

/// Destinations of up to two results, in elements.
#[derive(Clone, Copy)]
pub(crate) struct Destination {
    pub outs: [*mut u8; 2],
    pub first: usize,
    /// From result to result.
    pub step: usize,
    /// How many elements each result was reduced from.
    pub count: usize,
    /// Whether the reduction has just one result.
    pub is_single: bool,
}
// SAFETY: each thread writes places of its own.
unsafe impl Send for Destination {}
// SAFETY: as above.
unsafe impl Sync for Destination {}

/// What the plan needs to know about a reduction over one dtype.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    /// Whether there is a result for no elements.
    #[cfg_attr(not(feature = "any"), allow(dead_code))]
    pub has_identity: bool,
    pub(super) has_positions: bool,
    pub(super) by_blocks: bool,
    pub(super) counts_repeats: bool,
    /// Sizes of a partial result and of an element in bytes.
    pub(super) partial: usize,
    pub(super) element: usize,
    /// The dtypes of the results.
    pub outs: [Option<DType>; 2],
}

/// The functions of one reduction over one dtype. Partial results are contiguous, in memory aligned for them.
///
/// # Safety
/// Whoever calls them gives places of as many elements, partial results and results as the arguments say; partial
/// results that are read have been written.
pub(crate) trait ReduceLoops: Sync {
    /// What the plan needs to know.
    fn facts(&self) -> Facts;
    /// Initialises partial results.
    unsafe fn start(&self, partials: *mut u8, count: usize);
    /// Reduces each line to a partial result.
    unsafe fn lines(&self, lines: LineRun, partials: *mut u8, count: usize);
    /// Accumulates rows into partial results, one for each column.
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
pub(crate) struct FirstOnly<A, R>(R, PhantomData<fn() -> A>);
/// A reduction that writes both results.
pub(crate) struct WithSecond<A, R>(R, PhantomData<fn() -> A>);

/// Implements [`ReduceLoops`]; `$finish` writes a result, `$single` says whether a lone result may be computed
/// differently.
macro_rules! functions {
    ($name:ident: $bound:ident, $outs:expr, $single:literal, |$reducer:ident, $places:ident, $at:ident, $partial:ident| $finish:expr) => {
        impl<A: Copy + 'static, R: $bound<A>> $name<A, R> {
            /// The functions of a reducer.
            pub(crate) const fn new(reducer: R) -> Self {
                $name(reducer, PhantomData)
            }
            /// The reducer, for a GPU.
            #[cfg(all(feature = "cuda", feature = "any"))]
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
                    counts_repeats: R::COUNTS_REPEATS,
                    partial: size_of::<R::Partial>(),
                    element: size_of::<A>(),
                    outs: $outs,
                }
            }
            unsafe fn start(&self, partials: *mut u8, count: usize) {
                // SAFETY: the caller's promise.
                (0..count).for_each(|at| unsafe { partials.cast::<R::Partial>().add(at).write(self.0.start()) });
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
                if const { R::PREFERS_BLOCKS } {
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
                for (earlier, later) in earlier.iter_mut().zip(later) {
                    *earlier = self.0.merge(*earlier, *later);
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
                    // SAFETY: the caller's promise; as many lower ones are merged as the counter carries, and there are as many.
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
                for at in 0..count {
                    let $at = $places.first + at * $places.step;
                    // SAFETY: the caller's promise.
                    unsafe {
                        let $partial = partials.cast::<R::Partial>().add(at).read();
                        $finish
                    }
                }
            }
        }
    };
}
functions!(FirstOnly: Reducer, [Some(R::Out::DTYPE), None], true, |reducer, places, at, partial| {
    places.outs[0].cast::<R::Out>().add(at).write(reducer.finish(partial, places.count));
});
functions!(WithSecond: TwoResults, [Some(R::Out::DTYPE), Some(R::Second::DTYPE)], false, |reducer, places, at, partial| {
    places.outs[0].cast::<R::Out>().add(at).write(reducer.finish(partial, places.count));
    places.outs[1].cast::<R::Second>().add(at).write(reducer.second(partial, places.count));
});

/// Reduces each line to a partial result.
struct ReduceLines<'a, A: Copy + 'static, R: Reducer<A>> {
    reducer: R,
    from: *const A,
    step: usize,
    len: usize,
    position: usize,
    next: usize,
    exceeds_caches: bool,
    /// One for each line.
    partials: &'a mut [MaybeUninit<R::Partial>],
}
impl<A: Copy + 'static, R: Reducer<A>> Loop for ReduceLines<'_, A, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
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
        // SAFETY: who makes this has found the elements of as many lines as there are places.
        let elements = |line: usize| unsafe { core::slice::from_raw_parts(from.add(line * step), len) };
        // Other partial results do not stay in the registers.
        if const { R::INTERLEAVES && size_of::<A>() == 4 && size_of::<R::Partial>() == 4 && !R::HAS_POSITIONS }
            && len >= MIN_WIDE
        {
            // From beyond the caches elements come sooner in the order of memory. (What is added to what is the same in either way.)
            let (groups, others) =
                if exceeds_caches { (&mut [][..], partials) } else { partials.as_chunks_mut::<TOGETHER>() };
            let mut line = 0;
            for group in groups {
                let lines = [elements(line), elements(line + 1), elements(line + 2), elements(line + 3)];
                *group = reducer.blocks(lines).map(MaybeUninit::new);
                line += TOGETHER;
            }
            for partial in others {
                let [accumulated] = reducer.blocks([elements(line)]);
                partial.write(accumulated);
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
        let mut buffer = [const { MaybeUninit::<f32>::uninit() }; TOGETHER * BLOCK];
        let buffer: *mut f32 = buffer.as_mut_ptr().cast();
        assert!(len <= BLOCK, "no line is longer than a block");
        let fitting = (TOGETHER * BLOCK / len).max(1);
        for (group, some) in partials.chunks_mut(fitting).enumerate() {
            let first = group * fitting;
            for line in 0..some.len() {
                // SAFETY: as in `run`; these reductions are of `f16`, and the buffer holds so many lines.
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

/// A reducer of `f16` fed with `f32`.
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
    fn blocks<const M: usize>(self, lines: [&[f32]; M]) -> [R::Partial; M] {
        interleave(self, lines)
    }
    fn finish(self, partial: R::Partial, count: usize) -> R::Out {
        self.0.finish(partial, count)
    }
}

/// Accumulates rows into partial results, one for each column.
struct ReduceRows<'a, A: Copy + 'static, R: Reducer<A>> {
    reducer: R,
    from: *const A,
    step: usize,
    rows: usize,
    position: usize,
    exceeds_caches: bool,
    partials: &'a mut [R::Partial],
}
impl<A: Copy + 'static, R: Reducer<A>> Loop for ReduceRows<'_, A, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let ReduceRows { reducer, from, step, rows, position, exceeds_caches, partials } = self;
        let columns = partials.len();
        // SAFETY: who makes this has found the elements of these rows, one for each partial result.
        let row = |at: usize| unsafe { core::slice::from_raw_parts(from.add(at * step), columns) };
        let mut at = 0;
        while at + AHEAD <= rows {
            let some = [row(at), row(at + 1), row(at + 2), row(at + 3)];
            if exceeds_caches {
                // The next rows, or what follows these in memory.
                let ahead = if at + 2 * AHEAD <= rows { AHEAD * step } else { columns };
                some.iter().for_each(|row| simd::prefetch_row_nearby(row.as_ptr().wrapping_add(ahead), columns));
            }
            accumulate_four_rows(reducer, partials, some[0], some[1], some[2], some[3], position + at);
            at += AHEAD;
        }
        while at < rows {
            accumulate_row(reducer, partials, row(at), position + at);
            at += 1;
        }
    }
    #[inline(always)]
    fn run_small(self) {
        let ReduceRows { reducer, from, step, rows, position, partials, .. } = self;
        for at in 0..rows {
            for column in simd::one_by_one(partials.len()) {
                // SAFETY: as in `run`.
                let element = unsafe { from.add(at * step + column).read() };
                partials[column] = reducer.accumulate(partials[column], element, position + at);
            }
        }
    }
}

#[inline(always)]
fn accumulate_row<A: Copy + 'static, R: Reducer<A>>(
    reducer: R,
    partials: &mut [R::Partial],
    row: &[A],
    position: usize,
) {
    for (partial, &element) in partials.iter_mut().zip(row) {
        *partial = reducer.accumulate(*partial, element, position);
    }
}

/// Slices as arguments tell the compiler that rows and partial results do not alias.
#[inline(always)]
fn accumulate_four_rows<A: Copy + 'static, R: Reducer<A>>(
    reducer: R,
    partials: &mut [R::Partial],
    first: &[A],
    second: &[A],
    third: &[A],
    fourth: &[A],
    position: usize,
) {
    for ((((partial, &a), &b), &c), &d) in partials.iter_mut().zip(first).zip(second).zip(third).zip(fourth) {
        let accumulated = reducer.accumulate(reducer.accumulate(*partial, a, position), b, position + 1);
        *partial = reducer.accumulate(reducer.accumulate(accumulated, c, position + 2), d, position + 3);
    }
}
