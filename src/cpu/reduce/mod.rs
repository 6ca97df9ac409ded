//! Reductions over any axes, of tensors and of expressions.
//!
//! Elements are reduced in blocks, and the blocks' partial results are merged pairwise in a tree (pairwise summation). The tree depends on
//! shape and strides only, so results do not depend on the number of threads. Where contiguous elements belong to different results, many
//! columns are reduced together.
//!
//! `plan` decides the blocking, `source` delivers elements, `loops` accumulates, called through the table of `functions`, `tree` merges,
//! and `task` puts these together.

mod functions;
mod loops;
mod plan;
mod source;
mod task;
mod tree;

use self::functions::{All, Destination, Facts, LineRun};
pub(crate) use self::functions::{FirstOnly, ReduceLoops, WithSecond};
use self::plan::ReducePlan;
use self::source::{Computed, ElementSource, Memory, Paired};
use self::task::{INLINE_PARTIALS, ReduceTask};
use super::bytes::{self, Block16, ByteBuffer};
use super::copying;
use super::elementwise::{self, result_len};
use super::kernel_body::KernelBody;
use super::threads;
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::layout::strides::{is_contiguous, row_major};
use crate::ops::expression::{AXES, Expression};
use crate::ops::formula::MOST_RESULTS;
use crate::ops::kernel::Map2;
use crate::ops::reduce::{Reducer, SeveralResults, TwoResults};
use crate::storage::{HostBuffer, View};
use core::marker::PhantomData;

/// From this many bytes on, data is prefetched; less may be cached.
const FAR: usize = 8 << 20;

/// Runs a plan; `bytes` are read per element.
fn results_of<const N: usize>(
    functions: &dyn ReduceLoops,
    facts: Facts,
    mut plan: ReducePlan,
    source: &dyn ElementSource,
    bytes: usize,
) -> Result<[HostBuffer; N]> {
    let sizes = core::array::from_fn(|at| facts.outs[at].map_or(0, DType::itemsize));
    let (size, element) = (facts.partial, facts.element);
    // SAFETY: every result is written, each to its own place.
    unsafe {
        HostBuffer::filled_together(plan.results, sizes, &mut |starts: [*mut u8; N]| {
            let mut outs = [core::ptr::null_mut(); MOST_RESULTS];
            outs[..N].copy_from_slice(&starts);
            if plan.count == 0 {
                let mut partial = ByteBuffer::new();
                let partial = partial.reserve(size);
                functions.start(partial, 1);
                let is_single = plan.results == 1;
                for first in 0..plan.results {
                    functions.finish(Destination { outs, first, step: 1, count: 0, is_single }, partial, 1);
                }
            } else if plan.results > 0 {
                let read = plan.results.saturating_mul(plan.count) / 64 * bytes.max(1);
                // An estimate of 32 bytes per nanosecond for reductions limited by memory.
                let pieces = threads::pieces((2 * read).saturating_mul(facts.cost));
                if pieces > 1 {
                    plan.spread(pieces);
                }
                return ReduceTask {
                    functions,
                    plan: &plan,
                    source,
                    outs,
                    size,
                    element,
                    exceeds_caches: read > FAR / 64,
                }
                .run(pieces);
            }
            Ok(())
        })
    }
}

/// Reduces elements of the functions' dtype over the axes of `mask`; the results, one buffer per result of the reducer, are row-major over
/// the other axes.
///
/// # Safety
/// There are elements of these sizes and strides at the pointer.
pub(crate) unsafe fn run<const N: usize>(
    functions: &dyn ReduceLoops,
    from: *const u8,
    sizes: &[usize],
    strides: &[usize],
    mask: u32,
) -> Result<[HostBuffer; N]> {
    let facts = functions.facts();
    assert_eq!(facts.outs.iter().flatten().count(), N, "a buffer for each result");
    if let Some(lines) = short_lines(facts.partial, sizes, strides, mask) {
        let sizes = core::array::from_fn(|at| facts.outs[at].map_or(0, DType::itemsize));
        // SAFETY: the caller's promise; the results of each buffer are written.
        return unsafe {
            HostBuffer::filled_together(lines[0], sizes, &mut |starts: [*mut u8; N]| {
                let mut outs = [core::ptr::null_mut(); MOST_RESULTS];
                outs[..N].copy_from_slice(&starts);
                reduce_lines(functions, from, lines, outs);
                Ok(())
            })
        };
    }
    let whole = mask.trailing_ones() as usize >= sizes.len() && is_contiguous(sizes, strides);
    // (With an empty axis, the product of the other sizes may overflow.)
    let len = if whole && !sizes.contains(&0) { sizes.iter().product() } else { 0 };
    // Positions are row-major, so elements in another memory order are first copied to row-major order, tile by tile.
    if facts.has_positions && len == 0 && is_turned(sizes, strides, mask) {
        let (bytes, own) = (result_len(sizes)?.saturating_mul(facts.element), row_major(sizes));
        let mut copy = bytes::uninitialised(bytes)?;
        let copy = copy.as_mut_ptr().cast();
        // SAFETY: the caller's promise; the copy has room for all elements.
        return unsafe {
            copying::copy_into(facts.element, sizes, [&own, strides], copy, from);
            run(functions, copy, sizes, &own, mask)
        };
    }
    let mut memory = Memory { from, size: facts.element, strides: [0; AXES] };
    let plan = if whole {
        memory.strides[0] = 1;
        ReducePlan::line(len)
    } else {
        kept_len(sizes, mask)?;
        memory.strides[..strides.len()].copy_from_slice(strides);
        let mut read = [1; AXES];
        let read = &mut read[..sizes.len()];
        read.copy_from_slice(sizes);
        if !facts.counts_repeats {
            once(read, strides, mask);
        }
        ReducePlan::new(&mut memory, read, mask, facts, false)
    };
    results_of(functions, facts, plan, &memory, memory.size)
}

/// Whether all of several axes are reduced, and another axis than the last has the smallest stride.
fn is_turned(sizes: &[usize], strides: &[usize], mask: u32) -> bool {
    let all = mask.trailing_ones() as usize >= sizes.len() && !sizes.contains(&0);
    all && strides.last().is_some_and(|&last| last > 1) && strides.contains(&1) && !strides.contains(&0)
}

/// Maximum elements reduced without a plan.
const FEW: usize = 4 * plan::BLOCK;

/// Number of results and elements per result, for small contiguous operands whose results have contiguous elements, at most a block each.
/// These are reduced without a plan, which would take longer than the reduction.
#[inline]
fn short_lines(partial: usize, sizes: &[usize], strides: &[usize], mask: u32) -> Option<[usize; 2]> {
    let (mut results, mut len) = (1_usize, 1_usize);
    for (axis, (&size, &stride)) in sizes.iter().zip(strides).enumerate().rev() {
        if size == 1 {
            continue;
        }
        // (With an empty axis, the product of the other sizes may overflow.)
        let is_reduced = mask >> axis & 1 == 1;
        if stride != results.wrapping_mul(len) || is_reduced && results != 1 {
            return None;
        }
        (results, len) = if is_reduced { (results, len.wrapping_mul(size)) } else { (results.wrapping_mul(size), len) };
    }
    let fit = (1..=plan::BLOCK).contains(&len)
        && (1..=FEW).contains(&results)
        && results * len <= FEW
        && results * partial <= size_of::<[Block16; INLINE_PARTIALS]>();
    fit.then_some([results, len])
}

/// Reduces each line found by [`short_lines`] to a result.
///
/// # Safety
/// There are these elements at the pointer, and room for the results.
#[inline]
unsafe fn reduce_lines(
    functions: &(impl ReduceLoops + ?Sized),
    from: *const u8,
    [results, len]: [usize; 2],
    outs: [*mut u8; MOST_RESULTS],
) {
    let mut partials = [Block16::UNINIT; INLINE_PARTIALS];
    let partials = partials.as_mut_ptr().cast();
    let lines = LineRun { from, step: len, len, position: 0, next: 0, exceeds_caches: false };
    let places = Destination { outs, first: 0, step: 1, count: len, is_single: results == 1 };
    // SAFETY: the caller's promise; there is room for a partial result per line, initialised before it is read.
    unsafe {
        functions.lines(lines, partials, results);
        functions.finish(places, partials, results);
    }
}

/// Reduces the axes of `mask` with broadcast elements to size 1.
fn once(sizes: &mut [usize], strides: &[usize], mask: u32) {
    for (axis, (size, &stride)) in sizes.iter_mut().zip(strides).enumerate() {
        if mask >> axis & 1 == 1 && stride == 0 {
            *size = (*size).min(1);
        }
    }
}

/// [`run`] of one result.
///
/// # Safety
/// As for [`run`].
unsafe fn run_one(
    functions: &dyn ReduceLoops,
    from: *const u8,
    sizes: &[usize],
    strides: &[usize],
    mask: u32,
) -> Result<HostBuffer> {
    // SAFETY: the caller's promise.
    let [result] = unsafe { run(functions, from, sizes, strides, mask)? };
    Ok(result)
}

/// [`run`] of two results.
///
/// # Safety
/// As for [`run`].
unsafe fn run_both(
    functions: &dyn ReduceLoops,
    from: *const u8,
    sizes: &[usize],
    strides: &[usize],
    mask: u32,
) -> Result<[HostBuffer; 2]> {
    // SAFETY: the caller's promise.
    unsafe { run(functions, from, sizes, strides, mask) }
}

/// Reduces a computed expression; `bytes` are read per element.
fn run_computed<const N: usize>(
    functions: &dyn ReduceLoops,
    source: &mut dyn ElementSource,
    sizes: &[usize],
    mask: u32,
    bytes: usize,
) -> Result<[HostBuffer; N]> {
    let facts = functions.facts();
    assert_eq!(facts.outs.iter().flatten().count(), N, "a buffer for each result");
    kept_len(sizes, mask)?;
    let plan = ReducePlan::new(source, sizes, mask, facts, true);
    results_of(functions, facts, plan, source, bytes)
}

/// Reduces over the axes of `mask`; the result is row-major over the others.
#[inline]
pub(crate) fn reduce<A: Element, R: Reducer<A>>(
    reducer: R,
    a: View<'_, HostBuffer, A>,
    mask: u32,
) -> Result<HostBuffer> {
    let (functions, from) = (FirstOnly::<A, R>::new(reducer), elementwise::source(&a).cast());
    // SAFETY: the view's invariant; all results are written.
    unsafe {
        // (For few elements, looking up the functions in the table would take longer.)
        if let Some(lines) = short_lines(size_of::<R::Partial>(), a.sizes, a.strides, mask) {
            let (result, start) = HostBuffer::uninitialised(lines[0], size_of::<R::Out>())?;
            let mut outs = [core::ptr::null_mut(); MOST_RESULTS];
            outs[0] = start;
            reduce_lines(functions.loops(), from, lines, outs);
            return Ok(result);
        }
        run_one(functions.loops(), from, a.sizes, a.strides, mask)
    }
}

/// Both results of a reduction.
pub(crate) fn reduce_both<A: Element, R: TwoResults<A>>(
    reducer: R,
    a: View<'_, HostBuffer, A>,
    mask: u32,
) -> Result<[HostBuffer; 2]> {
    let from = elementwise::source(&a).cast();
    // SAFETY: the view's invariant.
    unsafe { run_both(WithSecond::<A, R>::new(reducer).loops(), from, a.sizes, a.strides, mask) }
}

/// All results of a reduction, in one pass.
pub(crate) fn reduce_several<A: Element, R: SeveralResults<A>, const N: usize>(
    reducer: R,
    a: View<'_, HostBuffer, A>,
    mask: u32,
) -> Result<[HostBuffer; N]> {
    let from = elementwise::source(&a).cast();
    // SAFETY: the view's invariant.
    unsafe { run(All::<A, R>::new(reducer).loops(), from, a.sizes, a.strides, mask) }
}
/// The same of an expression.
pub(crate) fn reduce_lazy_several<X: Expression<Elem: Element>, R: SeveralResults<X::Elem>, const N: usize>(
    reducer: R,
    x: X,
    sizes: &[usize],
    mask: u32,
) -> Result<[HostBuffer; N]> {
    run_computed(All::<X::Elem, R>::new(reducer).loops(), &mut Computed(x), sizes, mask, X::BYTES)
}

/// Reduces an expression over the axes of `mask`, in the order in which its materialised elements would be reduced.
pub(crate) fn reduce_lazy<X: Expression<Elem: Element>, R: Reducer<X::Elem>>(
    reducer: R,
    x: X,
    sizes: &[usize],
    mask: u32,
) -> Result<HostBuffer> {
    let functions = FirstOnly::<X::Elem, R>::new(reducer);
    let [result] = run_computed(functions.loops(), &mut Computed(x), sizes, mask, X::BYTES)?;
    Ok(result)
}

/// Reduces `kernel(a, b)` over the axes of `mask`; the operands have the same sizes.
pub(crate) fn reduce_pairs<A: Element, B: Element, C: Element, R: Reducer<C>>(
    reducer: R,
    kernel: &impl Map2<A, B, C>,
    a: View<'_, HostBuffer, A>,
    b: View<'_, HostBuffer, B>,
    mask: u32,
) -> Result<HostBuffer> {
    let body = KernelBody::two(kernel, core::ptr::null_mut::<C>(), elementwise::source(&a), elementwise::source(&b));
    run_pairs(FirstOnly::<C, R>::new(reducer).loops(), body, a.sizes, [a.strides, b.strides], mask)
}

/// The same of any kernel, as long as it and its operands are there.
fn run_pairs(
    functions: &dyn ReduceLoops,
    body: KernelBody<3>,
    sizes: &[usize],
    strides: [&[usize]; 2],
    mask: u32,
) -> Result<HostBuffer> {
    let strides = strides.map(|strides| {
        let mut steps = [0; AXES];
        steps[..strides.len()].copy_from_slice(strides);
        steps
    });
    let bytes = body.sizes[1] + body.sizes[2];
    let [result] = run_computed(functions, &mut Paired { body, strides, borrows: PhantomData }, sizes, mask, bytes)?;
    Ok(result)
}

/// Checks that the number of results does not overflow.
fn kept_len(sizes: &[usize], mask: u32) -> Result<usize> {
    let mut kept = [1; AXES];
    let axes = (0..sizes.len()).filter(|axis| mask >> axis & 1 == 0);
    axes.enumerate().for_each(|(to, from)| kept[to] = sizes[from]);
    result_len(&kept)
}
