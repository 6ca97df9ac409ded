//! Memory of a GPU as views reach it: what is read to the host, copied as it lies, and filled.
//!
//! Uses `cuda`; used by `present`, `transfer`, `erased` and `index`.

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

/// The first byte of a view, and how many bytes it reaches over; an error if they are not in its buffer.
pub(super) fn reach<E: Element>(op: &'static str, view: &View<'_, CudaBuffer, E>) -> Result<(usize, usize)> {
    expect_within(op, view.sizes, view.strides, view.offset, Some(view.buffer.len::<E>()))?;
    let too_large = || Error::TooLarge { op, sizes: view.sizes.into() };
    let bytes =
        span(view.sizes, view.strides).and_then(|span| span.checked_mul(size_of::<E>())).ok_or_else(too_large)?;
    Ok((if bytes == 0 { 0 } else { view.offset * size_of::<E>() }, bytes))
}

/// All elements in row-major order: what the view reaches over is copied to the host, and gathered there.
pub(super) fn download<E: Element>(view: View<'_, CudaBuffer, E>) -> Result<Vec<E>> {
    let (at, bytes) = reach("download", &view)?;
    if is_contiguous(view.sizes, view.strides) {
        // SAFETY: what a view reaches are valid elements.
        return unsafe { view.buffer.elements(at, bytes / size_of::<E>()) };
    }
    // SAFETY: all bytes are written.
    let host = unsafe { HostBuffer::filled_by::<u8>(bytes, |to| view.buffer.read(at, bytes, to))? };
    read::download(View::<_, E>::new(&host, 0, view.sizes, view.strides))
}

/// A buffer of its own for a view, with the same strides.
pub(super) fn copy_span<E: Element>(view: View<'_, CudaBuffer, E>) -> Result<CudaBuffer> {
    let (at, bytes) = reach("share", &view)?;
    view.buffer.copied(at, bytes, view.buffer.device())
}

/// `len` copies of a value: filled by the driver where its bytes repeat after four, else by a kernel of two words.
pub(super) fn fill<E: Element>(device: &'static CudaDevice, value: E, len: usize) -> Result<CudaBuffer> {
    let mut bytes = [0_u8; 16];
    let width = size_of::<E>();
    const { assert!(size_of::<E>() <= 16) }
    // SAFETY: an element has so many bytes, none of them padding, and there is room for them.
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
            // SAFETY: the kernel's parameters; it writes this many words, which nobody else has yet.
            unsafe { kernel.launch("fill", Grid::over(words), &arguments)? };
            Ok(buffer)
        }
    }
}

/// The kernel that [`fill`] is known by.
struct Fill;

/// Words of 64 bits, two in turn.
const FILL: &str = "\
typedef unsigned long long word;
extern \"C\" __global__ void fill(word *out, const word n, const word even, const word odd) {
  for (word i = blockIdx.x * (word)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (word)blockDim.x) out[i] = i & 1 ? odd : even;
}
";
