//! Selection by a mask on a GPU, of elements or indices: counts the selected elements per chunk, sums the counts, and writes the elements.

use super::axes::merged;
use super::elementwise::{count, start};
use super::index::{Form, Words, launch};
use super::reduce::uninitialised;
use crate::cuda::launch::{Arguments, Grid, THREADS};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::strides::is_contiguous;
use crate::storage::View;

const OP: &str = "compress";
/// Elements per chunk, which is one block's work.
const CHUNK: usize = 16 * THREADS as usize;

/// The struct `ci_selected`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Selected {
    count: u64,
    chunks: u64,
    packed: u64,
    rank: u64,
    sizes: [u64; 8],
    strides: [[u64; 8]; 2],
}

impl Selected {
    /// The elements of a mask, with these sizes, and strides of the selected tensor and of the mask.
    fn of(mask: &View<'_, CudaBuffer, bool>, len: usize, axes: ([u64; 8], [[u64; 8]; 2], u64)) -> Selected {
        let (sizes, strides, rank) = axes;
        let packed =
            is_contiguous(mask.sizes, mask.strides) && start::<bool>(mask.buffer, mask.offset).is_multiple_of(16);
        Selected { count: len as u64, chunks: len.div_ceil(CHUNK) as u64, packed: packed.into(), rank, sizes, strides }
    }
    /// Chunks beyond the maximum grid are looped over.
    fn grid(&self) -> Grid {
        Grid::blocks(self.chunks.min(i32::MAX as u64) as u32, THREADS)
    }
    /// The number of selected elements before each chunk, and in total. Waits for the kernels.
    fn counted(&self, device: &'static CudaDevice, selects: u64) -> Result<(CudaBuffer, usize)> {
        let chunks = self.chunks as usize;
        // SAFETY: the kernels write the count of each chunk and the total; the arguments are their parameters, what views reach is valid.
        unsafe {
            let [counts] = uninitialised(device, chunks + 1, [size_of::<u64>()])?;
            let mut arguments = Arguments::new();
            arguments.push(selects);
            arguments.push(counts.address());
            arguments.push(*self);
            launch(OP, device, (Form::Count, Words::of(1)), self.grid(), &arguments)?;
            let mut arguments = Arguments::new();
            arguments.push(counts.address());
            arguments.push(self.chunks);
            launch(OP, device, (Form::Scan, Words::of(1)), Grid::blocks(1, THREADS), &arguments)?;
            let total =
                counts.elements::<u64>(chunks * size_of::<u64>(), 1)?.first().map_or(0, |&total| total as usize);
            Ok((counts, total))
        }
    }
}

/// The elements that the mask selects, in row-major order, and their number.
pub(super) fn compress<E: Element>(
    device: &'static CudaDevice,
    a: &View<'_, CudaBuffer, E>,
    mask: &View<'_, CudaBuffer, bool>,
) -> Result<(CudaBuffer, usize)> {
    assert_eq!(a.sizes, mask.sizes);
    let (len, width) = (count(OP, a.sizes)?, size_of::<E>());
    if len == 0 {
        return Ok((CudaBuffer::zeroed(device, 0)?, 0));
    }
    let places = Selected::of(mask, len, merged(a.sizes, [a.strides, mask.strides], None));
    let selects = start::<bool>(mask.buffer, mask.offset);
    let (counts, total) = places.counted(device, selects)?;
    // SAFETY: the arguments are the kernel's parameters, what views reach is valid, and the result has room for the counted elements.
    unsafe {
        let [result] = uninitialised(device, total, [width])?;
        if total > 0 {
            let mut arguments = Arguments::new();
            arguments.push(start::<E>(a.buffer, a.offset));
            arguments.push(selects);
            arguments.push(counts.address());
            arguments.push(result.address());
            arguments.push(places);
            launch(OP, device, (Form::Select, Words::of(width)), places.grid(), &arguments)?;
        }
        Ok((result, total))
    }
}

/// The indices of a mask's true elements, one row each, and their number. There is at least one axis.
pub(super) fn index_rows(
    device: &'static CudaDevice,
    mask: &View<'_, CudaBuffer, bool>,
) -> Result<(CudaBuffer, usize)> {
    let (len, rank) = (count(OP, mask.sizes)?, mask.sizes.len());
    if len == 0 {
        return Ok((CudaBuffer::zeroed(device, 0)?, 0));
    }
    let padded = |of: &[usize]| core::array::from_fn(|at| of.get(at).map_or(0, |&of| of as u64));
    let axes = (padded(mask.sizes), [[0; 8], padded(mask.strides)], rank as u64);
    let places = Selected::of(mask, len, axes);
    let selects = start::<bool>(mask.buffer, mask.offset);
    let (counts, total) = places.counted(device, selects)?;
    // SAFETY: as in `compress`; the result has room for one index per axis for each row.
    unsafe {
        let [result] = uninitialised(device, count(OP, &[total, rank])?, [size_of::<i64>()])?;
        if total > 0 {
            let mut arguments = Arguments::new();
            arguments.push(selects);
            arguments.push(counts.address());
            arguments.push(result.address());
            arguments.push(places);
            launch(OP, device, (Form::Rows, Words::up_to(8, len)), places.grid(), &arguments)?;
        }
        Ok((result, total))
    }
}
