//! Kernels that see a whole lane: scans and softmax. Uses walks; used by `Cpu`.

use super::elementwise::result_len;
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::walk::Walk;
use crate::device::LaneKernel;
use crate::dtype::Element;
use crate::error::Result;
use crate::shape::strides;
use crate::storage::{HostBuffer, View};

/// Lanes of a walk over the other axes: operand 0 is the result, operand 1 the source.
struct Lanes<'a, K, A, O> {
    walk: &'a Walk<2>,
    kernel: K,
    len: usize,
    /// From element to element of a lane, in the result and in the source.
    steps: [usize; 2],
    from: *const A,
    to: *mut O,
}
impl<K: LaneKernel<A, O>, A: Element, O: Element> Loop for Lanes<'_, K, A, O> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Lanes { walk, kernel, len, steps, from, to } = self;
        // Lanes whose elements do not lie side by side are gathered here; the kernel writes to the other one.
        let mut gathered: Vec<A> = if steps[1] == 1 { Vec::new() } else { vec![A::default(); len] };
        let mut result = vec![O::default(); len];
        let mut scratch = K::Scratch::default();
        for run in walk.runs() {
            for lane in 0..run.len {
                // SAFETY: the walk gives the first elements of lanes; all `len` elements of each lie inside the view and the
                // result, and lanes are disjoint.
                unsafe {
                    let from = from.add(run.starts[1] + lane * run.steps[1]);
                    let to = to.add(run.starts[0] + lane * run.steps[0]);
                    if steps[1] == 1 {
                        simd::prefetch_row(from.wrapping_add(run.steps[1]), len);
                        kernel.lane(core::slice::from_raw_parts(from, len), &mut result, &mut scratch);
                    } else {
                        for (i, place) in gathered.iter_mut().enumerate() {
                            *place = from.add(i * steps[1]).read();
                        }
                        kernel.lane(&gathered, &mut result, &mut scratch);
                    }
                    if steps[0] == 1 {
                        core::ptr::copy_nonoverlapping(result.as_ptr(), to, len);
                    } else {
                        for (i, value) in result.iter().enumerate() {
                            to.add(i * steps[0]).write(*value);
                        }
                    }
                }
            }
        }
    }
}

pub(crate) fn lanes<A: Element, O: Element>(
    kernel: impl LaneKernel<A, O>,
    a: View<'_, HostBuffer, A>,
    axis: usize,
) -> Result<HostBuffer> {
    // A zero-dim tensor is one lane of one element.
    let (len, step) = a.sizes.get(axis).map_or((1, 0), |&size| (size, a.strides[axis]));
    let total = result_len(a.sizes)?;
    let inner: usize = a.sizes.iter().skip(axis + 1).product();
    let without = |of: &[usize]| -> Vec<usize> {
        of.iter().enumerate().filter(|&(at, _)| at != axis).map(|(_, &value)| value).collect()
    };
    // Where each lane of the row-major result starts.
    let result_strides = strides::row_major(a.sizes);
    let walk = Walk::row_major(&without(a.sizes), [&without(&result_strides), &without(a.strides)]);
    // SAFETY: the offset of a view lies inside its buffer (or at its end, if the view is empty).
    let from = unsafe { a.buffer.start::<A>().add(a.offset) };
    // A nanosecond for each element: these kernels go over a lane several times.
    let pieces = threads::pieces(total);
    // SAFETY: the lanes together hold every place of the result, and each is written whole.
    unsafe {
        HostBuffer::filled_by(total, |to: *mut O| {
            if total == 0 {
                return Ok(());
            }
            let steps = [inner, step];
            if pieces == 1 {
                simd::dispatch(Lanes { walk: &walk, kernel, len, steps, from, to });
            } else {
                let (parts, places) = (walk.split(pieces, 1), Shared((from, to)));
                threads::for_each(parts.len(), &|part| {
                    let places = &places;
                    let (from, to) = places.0;
                    simd::dispatch(Lanes { walk: &parts[part], kernel, len, steps, from, to });
                });
            }
            Ok(())
        })
    }
}
