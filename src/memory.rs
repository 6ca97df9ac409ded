//! Host memory that tensors used and will use again.
//!
//! Blocks of 64 KiB and more are kept when their tensor is gone, because touching fresh pages costs more than most
//! operations on them. How much is kept is bounded; the blocks unused for longest go first.
//!
//! ```
//! use castiron::{memory, shape, Tensor};
//! let x = Tensor::<f32, shape![1024, 1024]>::zeros();
//! assert!(memory::usage().used >= 4 << 20);
//! drop(x);
//! memory::empty_cache();
//! memory::set_cache_limit(64 << 20);
//! assert!(memory::usage().held <= 64 << 20);
//! ```

use crate::storage::pool;
pub use pool::PoolUse;

/// How many bytes are used and held in large blocks (`torch.cuda.memory_allocated`, `memory_reserved`, for the host).
pub fn usage() -> PoolUse {
    pool::usage()
}

/// Gives the blocks that no tensor uses back to the system (`torch.cuda.empty_cache`, for the host).
pub fn empty_cache() {
    pool::empty();
}

/// Says how many bytes may be held for later; 0 turns keeping off. 512 MiB unless said otherwise.
pub fn set_cache_limit(bytes: usize) {
    pool::set_limit(bytes);
}

/// Bytes of a GPU's memory.
#[cfg(feature = "cuda")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaUse {
    /// In tensors.
    pub used: usize,
    /// In the device's memory pool, for tensors and for later.
    pub held: usize,
}

/// How many bytes of a GPU's memory are used and held (`torch.cuda.memory_allocated`, `memory_reserved`). Other libraries in the process
/// that use the device's default pool hold memory in it, too.
///
/// # Errors
/// If the device is none of `cuda`, or not there.
#[cfg(feature = "cuda")]
pub fn cuda_usage(device: impl crate::IntoDevice) -> crate::Result<CudaUse> {
    let (used, held) = crate::device::gpu("memory", device)?.usage()?;
    Ok(CudaUse { used, held })
}

/// Says how many bytes of a GPU's memory tensors may use, where it is shared with other programs
/// (`torch.cuda.set_per_process_memory_fraction`, as bytes). What goes beyond is [`Error::CudaOutOfMemory`](crate::Error::CudaOutOfMemory); tensors that
/// are there stay.
///
/// ```no_run
/// castiron::memory::set_cuda_limit("cuda:0", 8 << 30)?;
/// # Ok::<(), castiron::Error>(())
/// ```
///
/// # Errors
/// As [`cuda_usage`].
#[cfg(feature = "cuda")]
pub fn set_cuda_limit(device: impl crate::IntoDevice, bytes: usize) -> crate::Result<()> {
    crate::device::gpu("set_cuda_limit", device)?.set_limit(bytes);
    Ok(())
}

/// Says how many bytes of a GPU's memory may be held for later while it is waited for; all that was ever used unless said otherwise.
///
/// ```no_run
/// castiron::memory::set_cuda_cache_limit("cuda:0", 1 << 30)?;
/// # Ok::<(), castiron::Error>(())
/// ```
///
/// # Errors
/// As [`cuda_usage`].
#[cfg(feature = "cuda")]
pub fn set_cuda_cache_limit(device: impl crate::IntoDevice, bytes: usize) -> crate::Result<()> {
    crate::device::gpu("set_cuda_cache_limit", device)?.keep(bytes)
}

/// Waits for a GPU, and gives the memory that no tensor uses back to the system (`torch.cuda.empty_cache`).
///
/// # Errors
/// As [`cuda_usage`].
#[cfg(feature = "cuda")]
pub fn empty_cuda_cache(device: impl crate::IntoDevice) -> crate::Result<()> {
    crate::device::gpu("empty_cache", device)?.empty_cache()
}
