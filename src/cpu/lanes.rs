//! Kernels that see a whole lane (the elements along one axis): scans and softmax.
//!
//! Only the loop over contiguous lanes is compiled for each kernel and dtype; gathering lanes and storing their
//! results is compiled once. Uses walks and copying; used by `Cpu`.

use super::bytes::ByteBuffer;
use super::copying;
use super::elementwise::{result_len, source};
use super::non_temporal;
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::walk::Walk;
use crate::dtype::Element;
use crate::error::{Result, filled};
use crate::layout::strides;
use crate::ops::kernel::LaneKernel;
use crate::storage::{HostBuffer, View};
use core::marker::PhantomData;

/// Lanes of fewer bytes are not worth non-temporal stores: they fill few cache lines.
const LONG: usize = 1024;
/// Elements brought side by side at once, where they or the results are not.
const GATHERED: usize = 16_384;

/// Lanes whose elements lie side by side.
#[derive(Clone, Copy)]
struct LaneRun {
    from: *const u8,
    /// From lane to lane, in elements.
    step: usize,
    len: usize,
    count: usize,
    /// From the results of a lane to those of the next, in elements: 0 where each lane's take the place of those before.
    results: usize,
}

/// The loop of one kernel over one dtype.
///
/// # Safety
/// Whoever calls it gives places of as many elements, and of as many results, which are valid ones.
trait LaneLoops: Sync {
    /// Computes the results of lanes, and says so after each of them.
    unsafe fn lanes(&self, lanes: LaneRun, outs: [*mut u8; 2], done: &mut dyn FnMut(usize)) -> Result<()>;
}

/// A kernel with one result.
struct OneOutput<K, A, O>(K, PhantomData<fn(A) -> O>);
impl<K: LaneKernel<A, O>, A: Element, O: Element> LaneLoops for OneOutput<K, A, O> {
    unsafe fn lanes(&self, lanes: LaneRun, outs: [*mut u8; 2], done: &mut dyn FnMut(usize)) -> Result<()> {
        let types = PhantomData::<fn(A) -> O>;
        simd::dispatch(LaneLoop { kernel: self.0, lanes, to: outs[0].cast::<O>(), step: lanes.results, types, done })
    }
}
/// A kernel with two results.
struct TwoOutputs<K, A, O, P>(K, PhantomData<fn(A) -> (O, P)>);
impl<K: LaneKernel<A, (O, P)>, A: Element, O: Element, P: Element> LaneLoops for TwoOutputs<K, A, O, P> {
    unsafe fn lanes(&self, lanes: LaneRun, outs: [*mut u8; 2], done: &mut dyn FnMut(usize)) -> Result<()> {
        let mut both = filled((O::default(), P::default()), lanes.len)?;
        let (to, types) = (both.as_mut_ptr(), PhantomData::<fn(A) -> (O, P)>);
        let mut split = |lane: usize| {
            for at in 0..lanes.len {
                // SAFETY: the caller's promise; there are as many pairs as a lane has elements.
                unsafe {
                    let (first, second) = to.add(at).read();
                    outs[0].cast::<O>().add(lane * lanes.results + at).write(first);
                    outs[1].cast::<P>().add(lane * lanes.results + at).write(second);
                }
            }
            done(lane);
        };
        simd::dispatch(LaneLoop { kernel: self.0, lanes, to, step: 0, types, done: &mut split })
    }
}

struct LaneLoop<'a, K, A, O> {
    kernel: K,
    lanes: LaneRun,
    to: *mut O,
    /// From lane to lane of the results.
    step: usize,
    types: PhantomData<fn(A) -> O>,
    done: &'a mut dyn FnMut(usize),
}
impl<K: LaneKernel<A, O>, A, O> Loop for LaneLoop<'_, K, A, O> {
    type Output = Result<()>;
    #[inline(always)]
    fn run(self) -> Result<()> {
        let LaneRun { from, step, len, count, .. } = self.lanes;
        let from = from.cast::<A>();
        let mut scratch = self.kernel.scratch(len)?;
        for at in 0..count {
            simd::prefetch_row(from.wrapping_add((at + 1) * step), len);
            // SAFETY: who makes this has found as many lanes, and places of results that hold valid ones.
            let (lane, to) = unsafe {
                (
                    core::slice::from_raw_parts(from.add(at * step), len),
                    core::slice::from_raw_parts_mut(self.to.add(at * self.step), len),
                )
            };
            self.kernel.lane(lane, to, &mut scratch);
            (self.done)(at);
        }
        Ok(())
    }
}

/// The destinations: buffers, sizes of a result in bytes, and the stride along the lane.
#[derive(Clone, Copy)]
struct Results<const N: usize> {
    outs: [*mut u8; N],
    sizes: [usize; N],
    step: usize,
    non_temporal: bool,
}
// SAFETY: each thread writes places of its own.
unsafe impl<const N: usize> Send for Results<N> {}
// SAFETY: as above.
unsafe impl<const N: usize> Sync for Results<N> {}

impl<const N: usize> Results<N> {
    /// Stores contiguous results of lanes: the first lane's at `first`, each further one `next` later.
    ///
    /// # Safety
    /// There are such results, and places for them.
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
/// The walk gives the first elements of lanes, and each lane's place among the results; all elements of each are there.
unsafe fn visit<const N: usize>(
    functions: &dyn LaneLoops,
    walk: &Walk<2>,
    (from, size): (*const u8, usize),
    [len, step]: [usize; 2],
    results: &Results<N>,
) -> Result<()> {
    let is_contiguous = step == 1 || len == 1;
    // Lanes and results that lie side by side are taken one after another, so that the results stay in the nearest cache.
    let one_by_one = is_contiguous && (results.step == 1 || len == 1);
    let fitting = if one_by_one { usize::MAX } else { (GATHERED / len).max(1) };
    let (mut gathered, mut buffer) = (None, None);
    for run in walk.runs() {
        let mut lane = 0;
        while lane < run.len {
            let count = fitting.min(run.len - lane);
            let buffer = match &mut buffer {
                Some(buffer) => buffer,
                // Allocated for the first run, which is as long as any.
                None => {
                    let kept = if one_by_one { 1 } else { count };
                    let mut buffers = [const { None }; N];
                    for (buffer, size) in buffers.iter_mut().zip(results.sizes) {
                        *buffer = Some(ByteBuffer::try_zeroed(kept * len * size)?);
                    }
                    buffer.insert(buffers.map(|buffer| buffer.unwrap_or_else(|| unreachable!("one for each result"))))
                }
            };
            let outs = buffer.each_mut().map(|buffer| buffer.reserve(0));
            let mut both = [core::ptr::null_mut(); 2];
            both[..N].copy_from_slice(&outs);
            let (first, next) = (run.starts[0] + lane * run.steps[0], run.steps[0]);
            // SAFETY: the caller's promise; there is room for the lanes and the results of so many.
            unsafe {
                let from = from.add((run.starts[1] + lane * run.steps[1]) * size);
                let (from, step) = if is_contiguous {
                    (from, run.steps[1])
                } else {
                    let to = match &mut gathered {
                        Some(gathered) => gathered,
                        None => gathered.insert(ByteBuffer::try_new(count * len * size)?),
                    };
                    let to = to.reserve(0);
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

/// Runs a kernel on every lane along an axis.
///
/// # Safety
/// From the place on there are elements of so many bytes and of these sizes and strides; the functions are those of their dtype.
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
    // SAFETY: the lanes are disjoint and together hold every place of the results, and each is written whole.
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
            // An estimate of a nanosecond for each element: these kernels make several passes over a lane.
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

pub(crate) fn lanes<A: Element, O: Element>(
    kernel: impl LaneKernel<A, O>,
    a: View<'_, HostBuffer, A>,
    axis: usize,
) -> Result<HostBuffer> {
    let from = (source(&a).cast(), size_of::<A>());
    let functions = OneOutput::<_, A, O>(kernel, PhantomData);
    // SAFETY: the view's invariant.
    let [result] = unsafe { execute(&functions, from, (a.sizes, a.strides), axis, [size_of::<O>()])? };
    Ok(result)
}

/// Both results of a kernel that has two.
pub(crate) fn lanes_both<A: Element, O: Element, P: Element>(
    kernel: impl LaneKernel<A, (O, P)>,
    a: View<'_, HostBuffer, A>,
    axis: usize,
) -> Result<[HostBuffer; 2]> {
    let from = (source(&a).cast(), size_of::<A>());
    let functions = TwoOutputs::<_, A, O, P>(kernel, PhantomData);
    // SAFETY: the view's invariant.
    unsafe { execute(&functions, from, (a.sizes, a.strides), axis, [size_of::<O>(), size_of::<P>()]) }
}
