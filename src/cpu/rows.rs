//! Kernels that make two passes over a row, one to measure it and one to compute its elements: normalisations.
//!
//! Uses walks; used by `Cpu`.

use super::elementwise::{result_len, source};
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::walk::Walk;
use crate::dtype::Element;
use crate::error::Result;
use crate::ops::kernel::RowKernel;
use crate::storage::{HostBuffer, View};

/// Rows of a walk: operand 0 is the result, operand 1 the source. Rows are contiguous in both.
struct RowLoop<'a, K, A, O> {
    walk: &'a Walk<2>,
    kernel: K,
    len: usize,
    shared: [Option<&'a [A]>; 2],
    from: *const A,
    to: *mut O,
}
impl<K: RowKernel<A, O>, A: Element, O: Element> Loop for RowLoop<'_, K, A, O> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let RowLoop { walk, kernel, len, shared, from, to } = self;
        for run in walk.runs() {
            for row in 0..run.len {
                // SAFETY: the walk gives the first elements of rows; all `len` elements of each lie inside the view and the
                // result, rows of the result are disjoint, and each is written whole.
                unsafe {
                    let row_of = core::slice::from_raw_parts(from.add(run.starts[1] + row * run.steps[1]), len);
                    let to = to.add(run.starts[0] + row * run.steps[0]);
                    let measure = kernel.measure(row_of);
                    // Prefetches the next row while this one is written.
                    simd::prefetch_row(row_of.as_ptr().wrapping_add(run.steps[1]), len);
                    let elements = row_of.iter().enumerate();
                    match shared {
                        [None, None] => {
                            elements.for_each(|(i, &x)| to.add(i).write(kernel.element(measure, x, [None; 2])))
                        }
                        [Some(first), None] => elements
                            .zip(first)
                            .for_each(|((i, &x), &a)| to.add(i).write(kernel.element(measure, x, [Some(a), None]))),
                        [None, Some(second)] => elements
                            .zip(second)
                            .for_each(|((i, &x), &b)| to.add(i).write(kernel.element(measure, x, [None, Some(b)]))),
                        [Some(first), Some(second)] => {
                            elements.zip(first).zip(second).for_each(|(((i, &x), &a), &b)| {
                                to.add(i).write(kernel.element(measure, x, [Some(a), Some(b)]))
                            })
                        }
                    }
                }
            }
        }
    }
}

pub(crate) fn rows<A: Element, O: Element>(
    kernel: impl RowKernel<A, O>,
    a: View<'_, HostBuffer, A>,
    shared: [Option<View<'_, HostBuffer, A>>; 2],
) -> Result<HostBuffer> {
    let total = result_len(a.sizes)?;
    let (&len, outer) = a.sizes.split_last().unwrap_or((&1, &[]));
    let mut result_strides = vec![len; outer.len()];
    for axis in (1..outer.len()).rev() {
        result_strides[axis - 1] = result_strides[axis] * outer[axis];
    }
    let walk = Walk::row_major(outer, [&result_strides, &a.strides[..outer.len()]]);
    let shared = shared.map(|row| {
        row.map(|row| match len {
            // The offset of an empty row may lie outside its buffer.
            0 => &[],
            // SAFETY: the callers give rows of `len` contiguous elements.
            len => unsafe { core::slice::from_raw_parts(source(&row), len) },
        })
    });
    debug_assert!(len < 2 || a.strides.last() == Some(&1));
    let from = source(&a);
    // An estimate of half a nanosecond for each element.
    let pieces = threads::pieces(total / 2);
    // SAFETY: the rows together hold every place of the result, and each is written whole.
    unsafe {
        HostBuffer::filled_by(total, |to: *mut O| {
            if total == 0 {
                return Ok(());
            }
            if pieces == 1 {
                simd::dispatch(RowLoop { walk: &walk, kernel, len, shared, from, to });
            } else {
                let (parts, places) = (walk.split(pieces, 1), Shared((from, to)));
                let shared = Shared(shared);
                threads::for_each(parts.len(), &|part| {
                    let (places, shared) = (&places, &shared);
                    let (from, to) = places.0;
                    simd::dispatch(RowLoop { walk: &parts[part], kernel, len, shared: shared.0, from, to });
                });
            }
            Ok(())
        })
    }
}

/// Rows that are groups of channels, each with its element of the shared lists: `(first, step)` of each.
struct GroupLoop<K, A, O> {
    kernel: K,
    groups: usize,
    channels: usize,
    places: usize,
    shared: [Option<(*const A, usize)>; 2],
    from: *const A,
    to: *mut O,
    rows: core::ops::Range<usize>,
}
impl<K: RowKernel<A, O>, A: Element, O: Element> GroupLoop<K, A, O> {
    /// The elements of one channel.
    ///
    /// # Safety
    /// There are as many places from `to` on.
    #[inline(always)]
    unsafe fn channel(&self, measure: K::Measure, elements: &[A], shared: [Option<A>; 2], to: *mut O) {
        for (at, &x) in elements.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { to.add(at).write(self.kernel.element(measure, x, shared)) }
        }
    }
}
impl<K: RowKernel<A, O>, A: Element, O: Element> Loop for GroupLoop<K, A, O> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let (channels, places) = (self.channels, self.places);
        let len = channels * places;
        for row in self.rows.clone() {
            // SAFETY: the rows are those of the view and of the result, and are written whole; the lists have an element for each
            // channel of all groups.
            unsafe {
                let row_of = core::slice::from_raw_parts(self.from.add(row * len), len);
                let measure = self.kernel.measure(row_of);
                for channel in 0..channels {
                    let (from, to) = (&row_of[channel * places..][..places], self.to.add(row * len + channel * places));
                    let at = row % self.groups * channels + channel;
                    // A loop for each, which asks no element which of them there are.
                    match self.shared.map(|list| list.map(|(first, step)| first.add(at * step).read())) {
                        [None, None] => self.channel(measure, from, [None, None], to),
                        [Some(a), None] => self.channel(measure, from, [Some(a), None], to),
                        [None, Some(b)] => self.channel(measure, from, [None, Some(b)], to),
                        [Some(a), Some(b)] => self.channel(measure, from, [Some(a), Some(b)], to),
                    }
                }
            }
        }
    }
}

/// Channels of fewer elements are not worth a loop each.
const FEW: usize = 16;

/// Runs a kernel on each group of channels of `(N, groups, channels, places)`, row-major; `None` where the channels are short.
pub(crate) fn groups<A: Element, O: Element>(
    kernel: impl RowKernel<A, O>,
    a: View<'_, HostBuffer, A>,
    shared: [Option<View<'_, HostBuffer, A>>; 2],
) -> Result<Option<HostBuffer>> {
    let total = result_len(a.sizes)?;
    let [n, groups, channels, places] = [0, 1, 2, 3].map(|axis| a.sizes[axis]);
    if places < FEW || total == 0 {
        return Ok(None);
    }
    let shared = shared.map(|list| list.map(|list| (source(&list), list.strides[0])));
    let (rows, from) = (n * groups, source(&a));
    // As in `rows`.
    let pieces = threads::pieces(total / 2).min(rows);
    // SAFETY: the rows together hold every place of the result, and each is written whole.
    let storage = unsafe {
        HostBuffer::filled_by(total, |to: *mut O| {
            let operands = Shared((from, to, shared));
            threads::for_each(pieces, &|piece| {
                let (from, to, shared) = { &operands }.0;
                let rows = rows * piece / pieces..rows * (piece + 1) / pieces;
                simd::dispatch(GroupLoop { kernel, groups, channels, places, shared, from, to, rows });
            });
            Ok(())
        })?
    };
    Ok(Some(storage))
}
