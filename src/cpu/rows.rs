//! Kernels that measure a row and then compute its elements: normalisations. Uses walks; used by `Cpu`.

use super::elementwise::{result_len, source};
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::walk::Walk;
use crate::dtype::Element;
use crate::error::Result;
use crate::ops::kernel::RowKernel;
use crate::storage::{HostBuffer, View};

/// Rows of a walk: operand 0 is the result, operand 1 the source. The elements of a row lie side by side in both.
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
                    // The next row comes in while this one is written.
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
            // The offset of a row of nothing may be any number.
            0 => &[],
            // SAFETY: the callers give rows of `len` elements side by side.
            len => unsafe { core::slice::from_raw_parts(source(&row), len) },
        })
    });
    debug_assert!(len < 2 || a.strides.last() == Some(&1));
    let from = source(&a);
    // Half a nanosecond for each element.
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
