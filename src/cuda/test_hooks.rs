//! Hooks for tests outside the crate: kernels from their own text, counters. Not part of the interface.

use super::compile::{KernelKey, Source, compiled};
pub use super::launch::Arguments;
use super::launch::Grid;
use crate::error::Result;

/// Compiles a text, with its hash as key, and launches its kernel over a number of elements, or over blocks and threads.
///
/// # Safety
/// The arguments match the kernel's parameters; the memory it reads and writes is alive on the device, and may be written.
#[doc(hidden)]
pub unsafe fn run(
    ordinal: usize,
    (name, text): (&str, &str),
    over: core::result::Result<usize, (u32, u32)>,
    arguments: &Arguments,
) -> Result<()> {
    let grid = over.map_or_else(|(blocks, threads)| Grid::blocks(blocks, threads), Grid::over);
    let key = KernelKey::Name("outside", super::disk::hash(&[name.as_bytes(), text.as_bytes()]) as u64);
    let source = || Ok(Source { name: name.to_owned(), text: text.to_owned() });
    let kernel = super::device(ordinal)?.kernel(key, &source)?;
    // SAFETY: the caller's promise.
    unsafe { kernel.launch("run", grid, arguments) }
}

/// The address of a tensor's first element on its device.
#[doc(hidden)]
pub fn address<E: crate::Element, S: crate::Shape, const N: usize>(
    tensor: &crate::Tensor<E, S, crate::Cuda<N>>,
) -> u64 {
    use crate::device::Backend;
    crate::Cuda::<N>::address(tensor.elements()).addr() as u64
}

/// The CUBIN of a text for a compute capability, `(9, 0)` for `sm_90`; no such device need be present.
///
/// # Errors
/// The reason of failure: no NVRTC, or its log.
#[doc(hidden)]
pub fn cubin((name, text): (&str, &str), capability: (u32, u32)) -> core::result::Result<Vec<u8>, String> {
    super::compile::cubin(&Source { name: name.to_owned(), text: text.to_owned() }, capability)
}

/// Number of compilations.
#[doc(hidden)]
pub fn compilations() -> usize {
    compiled()
}
