//! `Cuda<N>` on the CUDA runtime: memory, copies, downloads, and the kernels of all operations.

mod attend;
mod axes;
mod backend;
#[cfg(feature = "grad")]
mod derivative;
mod elementwise;
#[cfg(feature = "any")]
pub(crate) mod erased;
mod gemm;
mod index;
mod lanes;
mod memory;
mod order;
mod product;
mod random;
mod reduce;
mod scan;
mod scatter;
mod select;
mod transfer;

use super::Cuda;
pub(crate) use backend::available;
#[cfg(feature = "grad")]
pub(crate) use derivative::derivative;
pub use gemm::cublas_lt_version;
#[cfg(feature = "any")]
pub(crate) use random::draw;
pub(crate) use transfer::transfer;

/// The GPU named by an argument; `cuda` without an ordinal is the current one.
pub(crate) fn gpu(
    op: &'static str,
    device: impl crate::device::IntoDevice,
) -> crate::Result<&'static crate::cuda::CudaDevice> {
    let device = crate::device::AnyDevice::new(device)?;
    if device.kind() != crate::device::DeviceType::CUDA {
        return crate::error::invalid(op, format!("`{device}` is not a device of `cuda`"));
    }
    crate::cuda::device(device.resolve()?.index().unwrap_or(0))
}

/// The number of GPUs: 0 without a driver (`torch.cuda.device_count`).
pub fn cuda_device_count() -> usize {
    crate::cuda::device::count()
}

/// Waits for all work on a GPU (`torch.cuda.synchronize`). Reading elements waits by itself: this is for measuring time, and for detecting
/// a kernel's fault.
///
/// # Errors
/// If the device is not a CUDA device or not available, or a kernel failed.
pub fn synchronize(device: impl crate::device::IntoDevice) -> crate::Result<()> {
    gpu("synchronize", device)?.synchronize()
}
