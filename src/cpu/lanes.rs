//! Kernels that see a whole lane: scans and softmax. Uses walks; used by `Cpu`.

use super::elementwise::{result_len, source};
use super::simd::{self, Loop};
use super::stream;
use super::threads::{self, Shared};
use super::walk::Walk;
use crate::device::LaneKernel;
use crate::dtype::Element;
use crate::error::{Result, filled};
use crate::layout::strides;
use crate::storage::{HostBuffer, View};

/// Bytes of a lane that are worth writing past the caches: shorter ones fill few cache lines.
const LONG: usize = 1024;

/// What becomes of the results of a lane: where the first goes, from each to the next, and the results.
type Results<'a, O> = dyn Fn(usize, usize, &[O]) + Sync + 'a;

/// Lanes of a walk over the other axes: operand 0 is the result, operand 1 the source.
struct Lanes<'a, K, A, O> {
    walk: &'a Walk<2>,
    kernel: K,
    len: usize,
    /// From element to element of a lane, in the result and in the source.
    steps: [usize; 2],
    from: *const A,
    /// Whether the results may be written past the caches.
    past_caches: bool,
    results: &'a Results<'a, O>,
}
impl<K: LaneKernel<A, O>, A: Element, O: Copy + Default> Loop for Lanes<'_, K, A, O> {
    type Output = Result<()>;
    #[inline(always)]
    fn run(self) -> Result<()> {
        let Lanes { walk, kernel, len, steps, from, past_caches, results } = self;
        // Lanes whose elements do not lie side by side are gathered here; the kernel writes to the other one.
        let mut gathered = filled(A::default(), if steps[1] == 1 { 0 } else { len })?;
        let mut result = filled(O::default(), len)?;
        let mut scratch = kernel.scratch(len)?;
        for run in walk.runs() {
            for lane in 0..run.len {
                // SAFETY: the walk gives the first elements of lanes; all `len` elements of each lie inside the view.
                unsafe {
                    let from = from.add(run.starts[1] + lane * run.steps[1]);
                    if steps[1] == 1 {
                        simd::prefetch_row(from.wrapping_add(run.steps[1]), len);
                        kernel.lane(core::slice::from_raw_parts(from, len), &mut result, &mut scratch);
                    } else {
                        for (i, place) in gathered.iter_mut().enumerate() {
                            *place = from.add(i * steps[1]).read();
                        }
                        kernel.lane(&gathered, &mut result, &mut scratch);
                    }
                }
                results(run.starts[0] + lane * run.steps[0], steps[0], &result);
            }
        }
        if past_caches {
            stream::finish();
        }
        Ok(())
    }
}

/// Runs a kernel on every lane along an axis. Each lane's results are given once to `results`.
fn execute<A: Element, O: Copy + Default>(
    kernel: impl LaneKernel<A, O>,
    a: View<'_, HostBuffer, A>,
    axis: usize,
    past_caches: bool,
    results: &Results<'_, O>,
) -> Result<()> {
    // A zero-dim tensor is one lane of one element.
    let (len, step) = a.sizes.get(axis).map_or((1, 0), |&size| (size, a.strides[axis]));
    let total: usize = a.sizes.iter().product();
    if total == 0 {
        return Ok(());
    }
    let inner: usize = a.sizes.iter().skip(axis + 1).product();
    let without = |of: &[usize]| -> Vec<usize> {
        of.iter().enumerate().filter(|&(at, _)| at != axis).map(|(_, &value)| value).collect()
    };
    // Where each lane of the row-major result starts.
    let result_strides = strides::row_major(a.sizes);
    let walk = Walk::row_major(&without(a.sizes), [&without(&result_strides), &without(a.strides)]);
    let from = source(&a);
    // A nanosecond for each element: these kernels go over a lane several times.
    let pieces = threads::pieces(total);
    let steps = [inner, step];
    if pieces == 1 {
        simd::dispatch(Lanes { walk: &walk, kernel, len, steps, from, past_caches, results })
    } else {
        let (parts, from) = (walk.split(pieces, 1), Shared(from));
        threads::try_for_each(parts.len(), &|part| {
            let from = &from;
            simd::dispatch(Lanes { walk: &parts[part], kernel, len, steps, from: from.0, past_caches, results })
        })
    }
}

pub(crate) fn lanes<A: Element, O: Element>(
    kernel: impl LaneKernel<A, O>,
    a: View<'_, HostBuffer, A>,
    axis: usize,
) -> Result<HostBuffer> {
    let total = result_len(a.sizes)?;
    let past_caches = stream::is_large(total * size_of::<O>());
    // SAFETY: the lanes are disjoint and together hold every place of the result, and each is written whole.
    unsafe {
        HostBuffer::filled_by(total, |to: *mut O| {
            let to = Shared(to);
            execute(kernel, a, axis, past_caches, &|first, step, lane: &[O]| {
                let shared = &to;
                let to = shared.0.add(first);
                if step == 1 && past_caches && size_of_val(lane) >= LONG {
                    stream::write_out(to.cast(), lane.as_ptr().cast(), size_of_val(lane));
                } else if step == 1 {
                    core::ptr::copy_nonoverlapping(lane.as_ptr(), to, lane.len());
                } else {
                    lane.iter().enumerate().for_each(|(i, &value)| to.add(i * step).write(value));
                }
            })
        })
    }
}

/// Both results of a kernel that has two.
pub(crate) fn lanes_both<A: Element, O: Element, P: Element>(
    kernel: impl LaneKernel<A, (O, P)>,
    a: View<'_, HostBuffer, A>,
    axis: usize,
) -> Result<[HostBuffer; 2]> {
    // SAFETY: as in `lanes`.
    unsafe {
        HostBuffer::filled_by_both(result_len(a.sizes)?, |one: *mut O, other: *mut P| {
            let places = Shared((one, other));
            execute(kernel, a, axis, false, &|first, step, lane: &[(O, P)]| {
                let shared = &places;
                let (one, other) = shared.0;
                for (i, &(value, companion)) in lane.iter().enumerate() {
                    one.add(first + i * step).write(value);
                    other.add(first + i * step).write(companion);
                }
            })
        })
    }
}
