//! Kernels that make two passes over a row, one for statistics and one for the elements: normalisations.
//!
//! Only the loops over rows are compiled per kernel and dtype; locating rows and dividing them among threads is compiled once.

use super::elementwise::{result_len, source};
use super::precompiled::or_precompiled;
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::walk::Walk;
use crate::dtype::Element;
use crate::error::Result;
use crate::ops::kernel::RowKernel;
use crate::storage::{HostBuffer, View};
use core::marker::PhantomData;

/// Equally spaced rows of contiguous elements, none of them empty, and the contiguous rows of their results.
#[derive(Clone, Copy)]
pub(super) struct RowRun {
    from: *const u8,
    to: *mut u8,
    /// Distance between rows of the results and of the elements, in elements.
    steps: [usize; 2],
    len: usize,
    count: usize,
    /// Operand rows shared by all rows (such as weight and bias).
    shared: [Option<*const u8>; 2],
}

/// Rows that are groups of channels; each channel has one element in the shared lists. Rows are adjacent in memory.
#[derive(Clone, Copy)]
pub(super) struct GroupRun {
    from: *const u8,
    to: *mut u8,
    groups: usize,
    channels: usize,
    places: usize,
    /// First element and stride of each list.
    shared: [Option<(*const u8, usize)>; 2],
    /// The first row, and the number of rows.
    first: usize,
    count: usize,
}

/// The loops of one kernel over one dtype.
///
/// # Safety
/// The caller has checked that every element the arguments describe may be read, and that no other thread accesses the results.
pub(super) trait RowLoops: Sync {
    unsafe fn rows(&self, run: RowRun);
    unsafe fn groups(&self, run: GroupRun);
}

/// A kernel, the dtype of its elements and that of its results.
#[repr(transparent)]
pub(super) struct KernelLoops<K, A, O>(K, PhantomData<fn(A) -> O>);
impl<K: RowKernel<A, O>, A: Element, O: Element> RowLoops for KernelLoops<K, A, O> {
    unsafe fn rows(&self, run: RowRun) {
        simd::dispatch(RowLoop { kernel: self.0, run, types: PhantomData });
    }
    unsafe fn groups(&self, run: GroupRun) {
        simd::dispatch(GroupLoop { kernel: self.0, run, types: PhantomData });
    }
}

impl<K: RowKernel<A, O>, A: Element, O: Element> KernelLoops<K, A, O> {
    /// The kernel's functions, compiled in this crate with the feature `precompiled`.
    #[inline]
    fn loops(&self) -> &dyn RowLoops {
        or_precompiled!(self, row(K::PRECOMPILED, A::DTYPE))
    }
}

struct RowLoop<K, A, O> {
    kernel: K,
    run: RowRun,
    types: PhantomData<fn(A) -> O>,
}
impl<K: RowKernel<A, O>, A: Element, O: Element> Loop for RowLoop<K, A, O> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let RowLoop { kernel, run: RowRun { from, to, steps, len, count, shared }, .. } = self;
        let [first, second] = [0, 1].map(|at| {
            // SAFETY: the caller of `RowLoops::rows` has checked that each shared row has `len` elements.
            shared[at].map(|row| unsafe { core::slice::from_raw_parts(row.cast::<A>(), len) })
        });
        for row in 0..count {
            // SAFETY: the caller of `RowLoops::rows` has checked the rows' elements and the places of their results, which are written
            // completely.
            unsafe {
                let elements = core::slice::from_raw_parts(from.cast::<A>().add(row * steps[1]), len);
                let to = to.cast::<O>().add(row * steps[0]);
                let measure = kernel.measure(elements);
                // Prefetches the next row while this one is written.
                simd::prefetch_row(elements.as_ptr().wrapping_add(steps[1]), len);
                if let Some(large) = kernel.of_large(measure, elements) {
                    large_row(kernel, large, elements, [first, second], to);
                    continue;
                }
                let elements = elements.iter().enumerate();
                // One loop per combination of shared rows, so that no element tests for them.
                match (first, second) {
                    (None, None) => {
                        elements.for_each(|(at, &x)| to.add(at).write(kernel.element(measure, x, [None; 2])))
                    }
                    (Some(first), None) => elements
                        .zip(first)
                        .for_each(|((at, &x), &a)| to.add(at).write(kernel.element(measure, x, [Some(a), None]))),
                    (None, Some(second)) => elements
                        .zip(second)
                        .for_each(|((at, &x), &b)| to.add(at).write(kernel.element(measure, x, [None, Some(b)]))),
                    (Some(first), Some(second)) => elements.zip(first).zip(second).for_each(|(((at, &x), &a), &b)| {
                        to.add(at).write(kernel.element(measure, x, [Some(a), Some(b)]))
                    }),
                }
            }
        }
    }
}

/// The elements of a row that is [multiplied by a power](RowKernel::of_large).
///
/// # Safety
/// There is room for as many elements at `to`; the shared rows are as long.
#[cold]
#[inline(never)]
unsafe fn large_row<K: RowKernel<A, O>, A: Element, O: Element>(
    kernel: K,
    (power, measure): (A, K::Measure),
    elements: &[A],
    shared: [Option<&[A]>; 2],
    to: *mut O,
) {
    for (at, &x) in elements.iter().enumerate() {
        let shared = shared.map(|row| row.map(|row| row[at]));
        // SAFETY: the caller's promise.
        unsafe { to.add(at).write(kernel.element(measure, K::times(x, power), shared)) }
    }
}

struct GroupLoop<K, A, O> {
    kernel: K,
    run: GroupRun,
    types: PhantomData<fn(A) -> O>,
}
impl<K: RowKernel<A, O>, A: Element, O: Element> Loop for GroupLoop<K, A, O> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let GroupLoop { kernel, run: GroupRun { from, to, groups, channels, places, shared, first, count }, .. } = self;
        let len = channels * places;
        for row in first..first + count {
            // SAFETY: the caller of `RowLoops::groups` has checked the rows' elements and the places of their results, which are written
            // completely;
            // the lists have an element for each channel of all groups.
            unsafe {
                let elements = core::slice::from_raw_parts(from.cast::<A>().add(row * len), len);
                let measure = kernel.measure(elements);
                let large = kernel.of_large(measure, elements);
                for channel in 0..channels {
                    let elements = &elements[channel * places..][..places];
                    let to = to.cast::<O>().add(row * len + channel * places);
                    let at = row % groups * channels + channel;
                    let shared = shared.map(|list| list.map(|(first, step)| first.cast::<A>().add(at * step).read()));
                    if let Some((power, measure)) = large {
                        for (at, &x) in elements.iter().enumerate() {
                            to.add(at).write(kernel.element(measure, K::times(x, power), shared));
                        }
                        continue;
                    }
                    // One loop per combination, as above.
                    match shared {
                        [None, None] => channel_of(kernel, measure, elements, [None, None], to),
                        [Some(a), None] => channel_of(kernel, measure, elements, [Some(a), None], to),
                        [None, Some(b)] => channel_of(kernel, measure, elements, [None, Some(b)], to),
                        [Some(a), Some(b)] => channel_of(kernel, measure, elements, [Some(a), Some(b)], to),
                    }
                }
            }
        }
    }
}

/// The elements of one channel.
///
/// # Safety
/// There is room for as many elements at `to`.
#[inline(always)]
unsafe fn channel_of<K: RowKernel<A, O>, A: Element, O: Element>(
    kernel: K,
    measure: K::Measure,
    elements: &[A],
    shared: [Option<A>; 2],
    to: *mut O,
) {
    for (at, &x) in elements.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { to.add(at).write(kernel.element(measure, x, shared)) }
    }
}

/// An operand with its dtype erased: first element, bytes per element, sizes and strides.
#[derive(Clone, Copy)]
struct Operand<'a> {
    from: *const u8,
    size: usize,
    sizes: &'a [usize],
    strides: &'a [usize],
}
impl<'a> Operand<'a> {
    fn of<A: Element>(a: &View<'a, HostBuffer, A>) -> Self {
        Operand { from: source(a).cast(), size: size_of::<A>(), sizes: a.sizes, strides: a.strides }
    }
}

/// Runs a kernel on each row; results are row-major, `size` bytes per element.
///
/// # Safety
/// There are such elements, with contiguous rows, and shared rows of the same length; the functions are those of their dtype.
unsafe fn execute_rows(
    functions: &dyn RowLoops,
    a: Operand<'_>,
    shared: [Option<*const u8>; 2],
    size: usize,
) -> Result<HostBuffer> {
    let total = result_len(a.sizes)?;
    let (&len, outer) = a.sizes.split_last().unwrap_or((&1, &[]));
    debug_assert!(len < 2 || a.strides.last() == Some(&1));
    let mut result_strides = vec![len; outer.len()];
    for axis in (1..outer.len()).rev() {
        result_strides[axis - 1] = result_strides[axis] * outer[axis];
    }
    let walk = Walk::row_major(outer, [&result_strides, &a.strides[..outer.len()]]);
    // An estimate of half a nanosecond per element.
    let pieces = threads::pieces(total / 2);
    // SAFETY: the rows cover the result, and each is written whole.
    unsafe {
        let (result, to) = HostBuffer::uninitialised(total, size)?;
        let operands = Shared((a.from, to, shared));
        let visit = |walk: &Walk<2>| {
            let (from, to, shared) = { &operands }.0;
            for run in walk.runs() {
                let from = from.wrapping_add(run.starts[1] * a.size);
                let to = to.wrapping_add(run.starts[0] * size);
                functions.rows(RowRun { from, to, steps: run.steps, len, count: run.len, shared });
            }
        };
        if total > 0 && pieces == 1 {
            visit(&walk);
        } else if total > 0 {
            let parts = walk.split(pieces, 1);
            threads::for_each(parts.len(), &|part| visit(&parts[part]));
        }
        Ok(result)
    }
}

pub(crate) fn rows<A: Element, O: Element>(
    kernel: impl RowKernel<A, O>,
    a: View<'_, HostBuffer, A>,
    shared: [Option<View<'_, HostBuffer, A>>; 2],
) -> Result<HostBuffer> {
    let shared = shared.map(|row| row.map(|row| source(&row).cast()));
    // SAFETY: the view's invariant; the callers pass contiguous rows of that length.
    unsafe {
        execute_rows(KernelLoops::<_, A, O>(kernel, PhantomData).loops(), Operand::of(&a), shared, size_of::<O>())
    }
}

/// Minimum number of elements per channel that is worth a loop of its own.
const FEW: usize = 16;

/// Runs a kernel on each group of channels; results are row-major, `size` bytes per element.
///
/// # Safety
/// There are such elements, row-major, and one element per channel of all groups in the shared lists; the functions are those of their
/// dtype.
unsafe fn execute_groups(
    functions: &dyn RowLoops,
    a: Operand<'_>,
    shared: [Option<(*const u8, usize)>; 2],
    size: usize,
) -> Result<Option<HostBuffer>> {
    let total = result_len(a.sizes)?;
    let (n, groups, channels, places) = (a.sizes[0], a.sizes[1], a.sizes[2], a.sizes[3]);
    if places < FEW || total == 0 {
        return Ok(None);
    }
    let rows = n * groups;
    // As for rows.
    let pieces = threads::pieces(total / 2).min(rows);
    // SAFETY: the rows cover the result, and each is written whole.
    unsafe {
        let (result, to) = HostBuffer::uninitialised(total, size)?;
        let operands = Shared((a.from, to, shared));
        threads::for_each(pieces, &|piece| {
            let (from, to, shared) = { &operands }.0;
            let (first, end) = (rows * piece / pieces, rows * (piece + 1) / pieces);
            functions.groups(GroupRun { from, to, groups, channels, places, shared, first, count: end - first });
        });
        Ok(Some(result))
    }
}

/// Runs a kernel on each group of channels of `(N, groups, channels, places)`, row-major; `None` if channels are short.
pub(crate) fn groups<A: Element, O: Element>(
    kernel: impl RowKernel<A, O>,
    a: View<'_, HostBuffer, A>,
    shared: [Option<View<'_, HostBuffer, A>>; 2],
) -> Result<Option<HostBuffer>> {
    let shared = shared.map(|list| list.map(|list| (source(&list).cast(), list.strides[0])));
    // SAFETY: the view's invariant; the callers pass lists with one element per channel.
    unsafe {
        execute_groups(KernelLoops::<_, A, O>(kernel, PhantomData).loops(), Operand::of(&a), shared, size_of::<O>())
    }
}
