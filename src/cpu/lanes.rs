//! Kernels that see a whole lane (the elements along one axis): scans and softmax.
//!
//! Only the loops over contiguous lanes and over columns are compiled for each kernel and dtype; gathering lanes and storing their results
//! is compiled once.

use super::bytes;
use super::columns::{ColumnBlock, ColumnLoop, Together};
use super::copying;
use super::elementwise::{result_len, source};
use super::non_temporal;
use super::precompiled::or_precompiled;
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::walk::Walk;
use crate::dtype::Element;
use crate::error::{Result, numel_at_most};
use crate::layout::strides;
use crate::ops::kernel::{LaneKernel, MOST_COLUMNS};
use crate::storage::{HostBuffer, View};
use core::marker::PhantomData;

/// Minimum lane length in bytes for non-temporal stores: shorter lanes fill too few cache lines.
const LONG: usize = 1024;
/// Elements gathered at a time, where the elements or the results are not contiguous.
const GATHERED: usize = 16_384;

/// Lanes with contiguous elements.
#[derive(Clone, Copy)]
pub(super) struct LaneRun {
    from: *const u8,
    /// From lane to lane, in elements.
    step: usize,
    len: usize,
    count: usize,
    /// Distance between the results of one lane and the next, in elements: 0 if each lane's results overwrite the previous ones.
    results: usize,
}

/// The loops of one kernel over one dtype.
///
/// # Safety
/// The caller has checked every place that the arguments describe: elements may be read, results written.
pub(super) trait LaneLoops: Sync {
    /// Whether lanes can be computed as columns, and how many columns at a time.
    fn columns_together(&self) -> (bool, usize);
    /// Computes the results of lanes, and calls `done` after each lane.
    unsafe fn lanes(&self, lanes: LaneRun, outs: [*mut u8; 2], done: &mut dyn FnMut(usize)) -> Result<()>;
    /// Computes the results of several lanes as columns.
    unsafe fn columns(&self, block: ColumnBlock, outs: [*mut u8; 2]) -> Result<()>;
}

/// A kernel with one result.
#[repr(transparent)]
pub(super) struct OneOutput<K, A, O>(K, PhantomData<fn(A) -> O>);
impl<K: LaneKernel<A, O>, A: Element, O: Element> LaneLoops for OneOutput<K, A, O> {
    fn columns_together(&self) -> (bool, usize) {
        (K::ALL_BY_COLUMNS, K::TOGETHER)
    }
    unsafe fn lanes(&self, lanes: LaneRun, outs: [*mut u8; 2], done: &mut dyn FnMut(usize)) -> Result<()> {
        if const { K::ALL_BY_COLUMNS } {
            unreachable!("all lanes are computed by columns");
        }
        let mut scratch = self.0.scratch(lanes.len)?;
        simd::dispatch(LaneLoop::<K, A, O> { kernel: self.0, lanes, to: outs[0].cast(), scratch: &mut scratch, done });
        Ok(())
    }
    unsafe fn columns(&self, block: ColumnBlock, outs: [*mut u8; 2]) -> Result<()> {
        let mut scratch = self.0.scratch(block.rows * block.columns)?;
        let lanes = Together { block, to: outs[0].cast::<O>(), types: PhantomData::<fn(A) -> O> };
        simd::dispatch(ColumnLoop { kernel: self.0, lanes, scratch: &mut scratch });
        Ok(())
    }
}
/// A kernel with two results.
#[repr(transparent)]
pub(super) struct TwoOutputs<K, A, O, P>(K, PhantomData<fn(A) -> (O, P)>);
impl<K: LaneKernel<A, (O, P)>, A: Element, O: Element, P: Element> LaneLoops for TwoOutputs<K, A, O, P> {
    fn columns_together(&self) -> (bool, usize) {
        const { assert!(K::ALL_BY_COLUMNS, "a kernel with two results has no other way") }
        (true, K::TOGETHER)
    }
    unsafe fn lanes(&self, _: LaneRun, _: [*mut u8; 2], _: &mut dyn FnMut(usize)) -> Result<()> {
        unreachable!("all lanes are computed by columns")
    }
    unsafe fn columns(&self, block: ColumnBlock, [first, second]: [*mut u8; 2]) -> Result<()> {
        let mut scratch = self.0.scratch(block.rows * block.columns)?;
        let to = (first.cast::<O>(), second.cast::<P>());
        let lanes = Together { block, to, types: PhantomData::<fn(A) -> (O, P)> };
        simd::dispatch(ColumnLoop { kernel: self.0, lanes, scratch: &mut scratch });
        Ok(())
    }
}

impl<K: LaneKernel<A, O>, A: Element, O: Element> OneOutput<K, A, O> {
    /// The kernel's functions, compiled in this crate with the feature `precompiled`.
    #[inline]
    fn loops(&self) -> &dyn LaneLoops {
        or_precompiled!(self, lane(K::PRECOMPILED, A::DTYPE))
    }
}
impl<K: LaneKernel<A, (O, P)>, A: Element, O: Element, P: Element> TwoOutputs<K, A, O, P> {
    /// As above.
    #[inline]
    fn loops(&self) -> &dyn LaneLoops {
        or_precompiled!(self, lane_both(K::PRECOMPILED, A::DTYPE))
    }
}

struct LaneLoop<'a, K: LaneKernel<A, O>, A, O> {
    kernel: K,
    lanes: LaneRun,
    to: *mut O,
    scratch: &'a mut K::Scratch,
    done: &'a mut dyn FnMut(usize),
}
impl<K: LaneKernel<A, O>, A: Copy, O> Loop for LaneLoop<'_, K, A, O> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let LaneRun { from, step, len, count, results } = self.lanes;
        let from = from.cast::<A>();
        for at in 0..count {
            simd::prefetch_row(from.wrapping_add((at + 1) * step), len);
            // SAFETY: the maker of this run has checked that there are `count` lanes, and result places that hold valid elements.
            let (lane, to) = unsafe {
                (
                    core::slice::from_raw_parts(from.add(at * step), len),
                    core::slice::from_raw_parts_mut(self.to.add(at * results), len),
                )
            };
            self.kernel.lane(lane, to, self.scratch);
            (self.done)(at);
        }
    }
    /// Each lane as a single column, by the column loop.
    fn run_small(self) {
        let LaneRun { from, step, len, count, results } = self.lanes;
        for at in 0..count {
            let from = from.cast::<A>().wrapping_add(at * step).cast();
            let block = ColumnBlock { from, steps: [1, len], to_steps: [1, len], rows: len, columns: 1 };
            let to = self.to.wrapping_add(at * results);
            let lanes = Together { block, to, types: PhantomData::<fn(A) -> O> };
            simd::dispatch(ColumnLoop { kernel: self.kernel, lanes, scratch: &mut *self.scratch });
            (self.done)(at);
        }
    }
}

/// The destinations: buffers, result sizes in bytes, and the stride along the lane.
#[derive(Clone, Copy)]
struct Results<const N: usize> {
    outs: [*mut u8; N],
    sizes: [usize; N],
    step: usize,
    non_temporal: bool,
}
// SAFETY: each thread writes its own places.
unsafe impl<const N: usize> Send for Results<N> {}
// SAFETY: as above.
unsafe impl<const N: usize> Sync for Results<N> {}

impl<const N: usize> Results<N> {
    /// Stores contiguous results of lanes: the first lane's at `first`, each further one `next` later.
    ///
    /// # Safety
    /// There are such results, and room for them at their destinations.
    unsafe fn store(&self, from: [*mut u8; N], first: usize, next: usize, [count, len]: [usize; 2]) {
        for (at, &from) in from.iter().enumerate() {
            let size = self.sizes[at];
            let to = self.outs[at].wrapping_add(first * size);
            // SAFETY: the caller's promise.
            unsafe {
                if self.step == 1 && self.non_temporal && len * size >= LONG {
                    for lane in 0..count {
                        non_temporal::store(to.add(lane * next * size), from.add(lane * len * size), len * size);
                    }
                } else if self.step == 1 && (next == len || count == 1) {
                    core::ptr::copy_nonoverlapping(from, to, count * len * size);
                } else {
                    copying::copy_into(size, &[count, len], [&[next, self.step], &[len, 1]], to, from);
                }
            }
        }
    }
}

/// Runs a kernel on the lanes of a walk over the other axes: operand 0 is the result, operand 1 the source.
///
/// # Safety
/// The walk gives the first element of each lane and its place in the results; every element of a lane is valid.
unsafe fn visit<const N: usize>(
    functions: &dyn LaneLoops,
    walk: &Walk<2>,
    (from, size): (*const u8, usize),
    [len, step]: [usize; 2],
    results: &Results<N>,
) -> Result<()> {
    let is_contiguous = step == 1 || len == 1;
    // Where lanes and results are both contiguous, they are computed one at a time, so that the results stay in L1.
    let one_by_one = is_contiguous && (results.step == 1 || len == 1);
    let fitting = if one_by_one { usize::MAX } else { (GATHERED / len).max(1) };
    let (mut gathered, mut buffer) = (None, None);
    for run in walk.runs() {
        let mut lane = 0;
        while lane < run.len {
            let count = fitting.min(run.len - lane);
            let buffer = match &mut buffer {
                Some(buffer) => buffer,
                // Allocated for the first run; no run is longer.
                None => {
                    let kept = if one_by_one { 1 } else { count };
                    let mut buffers = [const { None }; N];
                    for (buffer, size) in buffers.iter_mut().zip(results.sizes) {
                        *buffer = Some(bytes::zeroed(numel_at_most(&[kept, len, size]))?);
                    }
                    buffer.insert(buffers.map(|buffer| buffer.unwrap_or_else(|| unreachable!("one for each result"))))
                }
            };
            let (mut outs, mut both) = ([core::ptr::null_mut(); N], [core::ptr::null_mut(); 2]);
            for (at, buffer) in buffer.iter_mut().enumerate() {
                outs[at] = buffer.as_mut_ptr().cast();
                both[at] = outs[at];
            }
            let (first, next) = (run.starts[0] + lane * run.steps[0], run.steps[0]);
            // SAFETY: the caller's promise; the buffers have room for `count` lanes and their results.
            unsafe {
                let from = from.add((run.starts[1] + lane * run.steps[1]) * size);
                let (from, step) = if is_contiguous {
                    (from, run.steps[1])
                } else {
                    let to = match &mut gathered {
                        Some(gathered) => gathered,
                        None => gathered.insert(bytes::uninitialised(numel_at_most(&[count, len, size]))?),
                    };
                    let to = to.as_mut_ptr().cast();
                    copying::copy_into(size, &[count, len], [&[len, 1], &[run.steps[1], step]], to, from);
                    (to.cast_const(), len)
                };
                let lanes = LaneRun { from, step, len, count, results: if one_by_one { 0 } else { len } };
                if one_by_one {
                    functions.lanes(lanes, both, &mut |at| results.store(outs, first + at * next, next, [1, len]))?;
                } else {
                    functions.lanes(lanes, both, &mut |_| ())?;
                    results.store(outs, first, next, [count, len]);
                }
            }
            lane += count;
        }
    }
    if results.non_temporal {
        non_temporal::fence();
    }
    Ok(())
}

/// Minimum number of adjacent columns computed together where lanes can also be computed singly, and the maximum number of rows.
const MIN_COLUMNS: usize = 12;
const MOST_ROWS: usize = 16_384;

/// Number of lanes of `len` elements that are buffered: one cache line per row, or fewer if that would take too much memory.
fn fitting(len: usize) -> usize {
    (4 * GATHERED / len).max(if len > MOST_ROWS { 1 } else { 16 })
}

/// Runs a kernel on lanes as columns: like [`visit`], but several lanes together.
///
/// # Safety
/// As for [`visit`].
unsafe fn visit_columns<const N: usize>(
    functions: &dyn LaneLoops,
    walk: &Walk<2>,
    (from, size): (*const u8, usize),
    [len, step]: [usize; 2],
    results: &Results<N>,
) -> Result<()> {
    let (any, together) = functions.columns_together();
    let mut gathered = None;
    for run in walk.runs() {
        let [to_next, next] = run.steps;
        // Rows of columns, or columns one after another, as in the results.
        let by_rows = to_next == 1 || run.len == 1;
        let is_alike = if by_rows { next == 1 || run.len == 1 } else { step == 1 || len == 1 };
        let fitting = together.min(if is_alike && any { MOST_COLUMNS } else { fitting(len) });
        for first in (0..run.len).step_by(fitting) {
            let count = fitting.min(run.len - first);
            let to = run.starts[0] + first * to_next;
            // SAFETY: the caller's promise; the buffer has room for the gathered lanes.
            unsafe {
                let from = from.add((run.starts[1] + first * next) * size);
                let (from, steps) = if is_alike {
                    (from, [step, next])
                } else {
                    let steps = if by_rows { [count, 1] } else { [1, len] };
                    let place = match &mut gathered {
                        Some(gathered) => gathered,
                        // Sized for the first run; no run has more lanes.
                        None => gathered.insert(bytes::uninitialised(numel_at_most(&[count, len, size]))?),
                    };
                    let place = place.as_mut_ptr().cast();
                    copying::copy_into(size, &[len, count], [&steps, &[step, next]], place, from);
                    (place.cast_const(), steps)
                };
                let block = ColumnBlock { from, steps, to_steps: [results.step, to_next], rows: len, columns: count };
                let mut outs = [core::ptr::null_mut(); 2];
                for (at, out) in outs.iter_mut().enumerate().take(N) {
                    *out = results.outs[at].add(to * results.sizes[at]);
                }
                functions.columns(block, outs)?;
            }
        }
    }
    Ok(())
}

/// Maximum length of lanes that are turned, if there are enough of them.
const SHORT: usize = 32;
/// The same for lanes that are no whole vectors.
const SHORT_UNEVEN: usize = 128;
/// Elements per vector.
const VECTOR: usize = 16;

/// Runs a kernel on short lanes with contiguous elements and results: a loop over few elements takes longer to start than to run. Lanes are
/// copied to be columns next to each other, and their results are copied back.
///
/// # Safety
/// As for [`visit`].
unsafe fn visit_turned<const N: usize>(
    functions: &dyn LaneLoops,
    walk: &Walk<2>,
    (from, size): (*const u8, usize),
    [len, step]: [usize; 2],
    results: &Results<N>,
) -> Result<()> {
    let (_, together) = functions.columns_together();
    let widest = results.sizes.iter().fold(size, |widest, &size| widest.max(size));
    let block = len * together * widest;
    // The lanes, and each of their results.
    let mut turned = bytes::uninitialised(numel_at_most(&[N + 1, block]))?;
    let turned = turned.as_mut_ptr().cast::<u8>();
    for run in walk.runs() {
        let [to_next, next] = run.steps;
        for first in (0..run.len).step_by(together) {
            let count = together.min(run.len - first);
            let sizes = [len, count];
            // SAFETY: the caller's promise; the buffer has room for `together` lanes and their results.
            unsafe {
                let lanes = from.add((run.starts[1] + first * next) * size);
                copying::copy_into(size, &sizes, [&[count, 1], &[step, next]], turned, lanes);
                let steps = [count, 1];
                let columns = ColumnBlock { from: turned, steps, to_steps: steps, rows: len, columns: count };
                let mut outs = [turned; 2];
                for (at, out) in outs.iter_mut().enumerate().take(N) {
                    *out = turned.add((at + 1) * block);
                }
                functions.columns(columns, outs)?;
                for (at, size) in results.sizes.into_iter().enumerate() {
                    let to = results.outs[at].add((run.starts[0] + first * to_next) * size);
                    copying::copy_into(size, &sizes, [&[results.step, to_next], &[count, 1]], to, outs[at]);
                }
            }
        }
    }
    Ok(())
}

/// Runs a kernel on every lane along an axis.
///
/// # Safety
/// From `from` on there are elements of the given width, sizes and strides; the functions are those of their dtype.
unsafe fn execute<const N: usize>(
    functions: &dyn LaneLoops,
    (from, size): (*const u8, usize),
    (sizes, strides): (&[usize], &[usize]),
    axis: usize,
    outs: [usize; N],
) -> Result<[HostBuffer; N]> {
    let total = result_len(sizes)?;
    // A zero-dim tensor is one lane of one element.
    let (len, step) = sizes.get(axis).map_or((1, 0), |&size| (size, strides[axis]));
    let inner: usize = sizes.iter().skip(axis + 1).product();
    let without = |of: &[usize]| -> Vec<usize> {
        of.iter().enumerate().filter(|&(at, _)| at != axis).map(|(_, &value)| value).collect()
    };
    // SAFETY: the lanes are disjoint and cover the results, and each is written completely.
    unsafe {
        HostBuffer::filled_together(total, outs, &mut |starts| {
            if total == 0 {
                return Ok(());
            }
            let non_temporal = N == 1 && non_temporal::pays_off(total * outs[0]);
            let results = Results { outs: starts, sizes: outs, step: inner, non_temporal };
            // Where each lane of the row-major result starts.
            let result_strides = strides::row_major(sizes);
            let walk = Walk::row_major(&without(sizes), [&without(&result_strides), &without(strides)]);
            let next_to_each_other = inner > 1 && walk.runs().next().is_some_and(|run| run.len >= MIN_COLUMNS);
            let (all, together) = functions.columns_together();
            let by_columns = all || (next_to_each_other && len <= MOST_ROWS);
            let short = if len.is_multiple_of(VECTOR) { SHORT } else { SHORT_UNEVEN };
            let is_short = step == 1 && inner == 1 && (2..=short).contains(&len) && total >= MIN_COLUMNS * len;
            let visit = if by_columns {
                visit_columns
            } else if N == 1 && is_short && together >= MIN_COLUMNS {
                visit_turned
            } else {
                visit
            };
            // An estimate of one nanosecond per element: these kernels make several passes over a lane.
            let pieces = threads::pieces(total);
            if pieces == 1 {
                return visit(functions, &walk, (from, size), [len, step], &results);
            }
            let (parts, from) = (walk.split(pieces, 1), Shared(from));
            threads::try_for_each(parts.len(), &|part| {
                let from = &from;
                visit(functions, &parts[part], (from.0, size), [len, step], &results)
            })
        })
    }
}

/// [`execute`] of one result.
///
/// # Safety
/// As for [`execute`].
unsafe fn execute_one(
    functions: &dyn LaneLoops,
    from: (*const u8, usize),
    of: (&[usize], &[usize]),
    axis: usize,
    size: usize,
) -> Result<HostBuffer> {
    // SAFETY: the caller's promise.
    let [result] = unsafe { execute(functions, from, of, axis, [size])? };
    Ok(result)
}

/// [`execute`] of two results.
///
/// # Safety
/// As for [`execute`].
unsafe fn execute_both(
    functions: &dyn LaneLoops,
    from: (*const u8, usize),
    of: (&[usize], &[usize]),
    axis: usize,
    sizes: [usize; 2],
) -> Result<[HostBuffer; 2]> {
    // SAFETY: the caller's promise.
    unsafe { execute(functions, from, of, axis, sizes) }
}

pub(crate) fn lanes<A: Element, O: Element>(
    kernel: impl LaneKernel<A, O>,
    a: View<'_, HostBuffer, A>,
    axis: usize,
) -> Result<HostBuffer> {
    let from = (source(&a).cast(), size_of::<A>());
    let functions = OneOutput::<_, A, O>(kernel, PhantomData);
    // SAFETY: the view's invariant.
    unsafe { execute_one(functions.loops(), from, (a.sizes, a.strides), axis, size_of::<O>()) }
}

/// Both results of a kernel with two.
pub(crate) fn lanes_both<A: Element, O: Element, P: Element>(
    kernel: impl LaneKernel<A, (O, P)>,
    a: View<'_, HostBuffer, A>,
    axis: usize,
) -> Result<[HostBuffer; 2]> {
    let from = (source(&a).cast(), size_of::<A>());
    let functions = TwoOutputs::<_, A, O, P>(kernel, PhantomData);
    // SAFETY: the view's invariant.
    unsafe { execute_both(functions.loops(), from, (a.sizes, a.strides), axis, [size_of::<O>(), size_of::<P>()]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::scan::Softmax;

    /// The results of three lanes of `len` elements each, by the small or the vectorised loop.
    fn results<const LOG: bool>(elements: &[f32], len: usize, is_small: bool) -> Vec<u32> {
        let (kernel, mut results) = (Softmax::<LOG>, vec![f32::NAN; 3 * len]);
        let mut scratch = LaneKernel::<f32, f32>::scratch(kernel, len).unwrap();
        let lanes = LaneRun { from: elements.as_ptr().cast(), step: len, len, count: 3, results: len };
        let (to, mut done) = (results.as_mut_ptr(), 0);
        let mut count = |at: usize| done += usize::from(at == done);
        let body = LaneLoop { kernel, lanes, to, scratch: &mut scratch, done: &mut count };
        if is_small {
            body.run_small()
        } else {
            body.run()
        }
        assert_eq!(done, 3);
        results.into_iter().map(f32::to_bits).collect()
    }

    /// Machines without AVX2 run lanes as columns.
    #[test]
    fn small_code_gives_the_same() {
        for len in [1, 2, 15, 16, 63, 64, 65, 1000, 1100, 4100] {
            let elements: Vec<f32> = (0..3 * len).map(|at| (at * 37 % 101) as f32 * 0.3 - 11.0).collect();
            assert_eq!(results::<false>(&elements, len, false), results::<false>(&elements, len, true), "of {len}");
            assert_eq!(results::<true>(&elements, len, false), results::<true>(&elements, len, true), "of {len}");
        }
    }
}
