//! A GPU's memory as views reach it: downloads, copies of the same layout, and fills.

use crate::cpu::read;
use crate::cuda::buffer::bytes_of;
use crate::cuda::compile::{KernelKey, Source};
use crate::cuda::launch::{Arguments, Grid};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::layout::bounds::{expect_within, span};
use crate::layout::strides::is_contiguous;
use crate::storage::{HostBuffer, View};

/// The first byte of a view, and its span in bytes; an error if out of bounds.
pub(super) fn reach<E: Element>(op: &'static str, view: &View<'_, CudaBuffer, E>) -> Result<(usize, usize)> {
    expect_within(op, view.sizes, view.strides, view.offset, Some(view.buffer.len::<E>()))?;
    let too_large = || Error::TooLarge { op, sizes: view.sizes.into() };
    let bytes =
        span(view.sizes, view.strides).and_then(|span| span.checked_mul(size_of::<E>())).ok_or_else(too_large)?;
    Ok((if bytes == 0 { 0 } else { view.offset * size_of::<E>() }, bytes))
}

/// All elements in row-major order: copies the span of the view to the host, and gathers there.
pub(super) fn download<E: Element>(view: View<'_, CudaBuffer, E>) -> Result<Vec<E>> {
    let (at, bytes) = reach("download", &view)?;
    if is_contiguous(view.sizes, view.strides) {
        // SAFETY: what a view reaches is valid elements.
        return unsafe { view.buffer.elements(at, bytes / size_of::<E>()) };
    }
    // SAFETY: all bytes are written.
    let host = unsafe { HostBuffer::filled_by::<u8>(bytes, |to| view.buffer.read(at, bytes, to))? };
    read::download(View::<_, E>::new(&host, 0, view.sizes, view.strides))
}

/// Copies a view to a new buffer, with the same strides.
pub(super) fn copy_span<E: Element>(view: View<'_, CudaBuffer, E>) -> Result<CudaBuffer> {
    let (at, bytes) = reach("share", &view)?;
    view.buffer.copied(at, bytes, view.buffer.device())
}

/// `len` copies of a value: by the driver if its bytes repeat every four bytes, else by a kernel.
pub(super) fn fill<E: Element>(device: &'static CudaDevice, value: E, len: usize) -> Result<CudaBuffer> {
    let mut bytes = [0_u8; 16];
    let width = size_of::<E>();
    const { assert!(size_of::<E>() <= 16) }
    // SAFETY: an element has that many bytes and no padding, and the array has room for them.
    unsafe { core::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), bytes.as_mut_ptr(), width) };
    let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    match width {
        1 => CudaBuffer::filled(device, len, bytes[0]),
        2 => CudaBuffer::filled(device, len, u16::from_ne_bytes([bytes[0], bytes[1]])),
        4 => CudaBuffer::filled(device, len, word(0)),
        _ if (4..width).step_by(4).all(|at| word(at) == word(0)) => {
            CudaBuffer::filled(device, bytes_of(device, len, width)? / 4, word(0))
        }
        _ => {
            let total = bytes_of(device, len, width)?;
            let (words, twice) = (total / 8, width == 16);
            let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
            let kernel = device
                .kernel(KernelKey::of::<Fill>(0), &|| Ok(Source { name: "fill".to_owned(), text: FILL.to_owned() }))?;
            // SAFETY: the kernel writes all words.
            let buffer = unsafe { CudaBuffer::uninitialised(device, total)? };
            let mut arguments = Arguments::new();
            arguments.push(buffer.address());
            arguments.push(words as u64);
            arguments.push(long(0));
            arguments.push(if twice { long(8) } else { long(0) });
            // SAFETY: the kernel's parameters; it writes this many words of a new buffer.
            unsafe { kernel.launch("fill", Grid::over(words), &arguments)? };
            Ok(buffer)
        }
    }
}

/// The key of [`fill`]'s kernel.
struct Fill;

/// Two 64-bit words in turn.
const FILL: &str = "\
typedef unsigned long long word;
extern \"C\" __global__ void fill(word *out, const word n, const word even, const word odd) {
  for (word i = blockIdx.x * (word)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (word)blockDim.x) out[i] = i & 1 ? odd : even;
}
";
