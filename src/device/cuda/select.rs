//! Elements selected by a mask on a GPU: the selected ones of each chunk are counted, the counts added up, the elements written.
//!
//! Uses the kernels of `index`; used by the operations of `Cuda`.

use super::axes::merged;
use super::elementwise::{count, start};
use super::index::{Form, Words, launch};
use super::reduce::uninitialised;
use crate::cuda::launch::{Arguments, Grid, THREADS};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::dtype::Element;
use crate::error::Result;
use crate::storage::View;

const OP: &str = "compress";
/// The elements of a chunk, which a block counts and writes.
const CHUNK: usize = 16 * THREADS as usize;

/// The struct `ci_selected`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Selected {
    count: u64,
    chunks: u64,
    rank: u64,
    sizes: [u64; 8],
    strides: [[u64; 8]; 2],
}

/// The elements that the mask selects, in row-major order, and how many there are.
pub(super) fn compress<E: Element>(
    device: &'static CudaDevice,
    a: &View<'_, CudaBuffer, E>,
    mask: &View<'_, CudaBuffer, bool>,
) -> Result<(CudaBuffer, usize)> {
    assert_eq!(a.sizes, mask.sizes);
    let (len, width) = (count(OP, a.sizes)?, size_of::<E>());
    let chunks = len.div_ceil(CHUNK);
    let (sizes, strides, rank) = merged(a.sizes, [a.strides, mask.strides], None);
    let places = Selected { count: len as u64, chunks: chunks as u64, rank, sizes, strides };
    if len == 0 {
        return Ok((CudaBuffer::zeroed(device, 0)?, 0));
    }
    let (grid, selects) =
        (Grid::blocks(chunks.min(i32::MAX as usize) as u32, THREADS), start::<bool>(mask.buffer, mask.offset));
    // SAFETY: the kernels write the count of each chunk and that of all; the arguments are their parameters, what views reach is valid,
    // and the result has room for as many elements as were counted.
    unsafe {
        let [counts] = uninitialised(device, chunks + 1, [size_of::<u64>()])?;
        let mut arguments = Arguments::new();
        arguments.push(selects);
        arguments.push(counts.address());
        arguments.push(places);
        launch(OP, device, (Form::Count, Words::of(1)), grid, &arguments)?;
        let mut arguments = Arguments::new();
        arguments.push(counts.address());
        arguments.push(chunks as u64);
        launch(OP, device, (Form::Scan, Words::of(1)), Grid::blocks(1, THREADS), &arguments)?;
        let total = counts.elements::<u64>(chunks * size_of::<u64>(), 1)?.first().map_or(0, |&total| total as usize);
        let [result] = uninitialised(device, total, [width])?;
        if total > 0 {
            let mut arguments = Arguments::new();
            arguments.push(start::<E>(a.buffer, a.offset));
            arguments.push(selects);
            arguments.push(counts.address());
            arguments.push(result.address());
            arguments.push(places);
            launch(OP, device, (Form::Select, Words::of(width)), grid, &arguments)?;
        }
        Ok((result, total))
    }
}
