//! Kernels that see a whole lane: scans and softmax. Uses walks; used by `Cpu`.

use super::elementwise::result_len;
use super::walk::Walk;
use crate::device::LaneKernel;
use crate::dtype::Element;
use crate::error::Result;
use crate::storage::{HostBuffer, View};

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
    let sizes = without(a.sizes);
    // Where each lane of the row-major result starts.
    let mut result_strides = vec![0; a.sizes.len()];
    let mut stride = 1;
    for at in (0..a.sizes.len()).rev() {
        result_strides[at] = stride;
        stride *= a.sizes[at];
    }
    let (from_strides, to_strides) = (without(a.strides), without(&result_strides));
    let walk = Walk::row_major(&sizes, [&to_strides, &from_strides]);
    // SAFETY: the offset of a view lies inside its buffer (or at its end, if the view is empty).
    let from = unsafe { a.buffer.start::<A>().add(a.offset) };
    // SAFETY: lanes are disjoint and together hold every place of the result; a lane kernel writes each place of its
    // lane (`LaneKernel`'s contract is checked below: the buffer starts as zeros, so a place it forgets is still an
    // initialised element). What is read lies inside the view.
    unsafe {
        HostBuffer::filled_by(total, |out: *mut O| {
            core::ptr::write_bytes(out, 0, total);
            if total == 0 {
                return Ok(());
            }
            for run in walk.runs() {
                for lane in 0..run.len {
                    let to = out.add(run.starts[0] + lane * run.steps[0]);
                    let from = from.add(run.starts[1] + lane * run.steps[1]);
                    let get = |i: usize| {
                        assert!(i < len);
                        from.add(i * step).read()
                    };
                    let put = |i: usize, value: O| {
                        assert!(i < len);
                        to.add(i * inner).write(value);
                    };
                    kernel.lane(len, get, put);
                }
            }
            Ok(())
        })
    }
}
