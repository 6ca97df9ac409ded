//! `Cuda<N>`: the GPU with ordinal `N`. Programs over it type-check everywhere. If no GPU is available, or the build lacks the feature
//! `cuda`, making a tensor on it is an error.

#[cfg(not(feature = "cuda"))]
mod absent;
#[cfg(feature = "cuda")]
mod attend;
#[cfg(feature = "cuda")]
mod axes;
#[cfg(feature = "cuda")]
mod elementwise;
#[cfg(all(feature = "cuda", feature = "any"))]
pub(super) mod erased;
#[cfg(feature = "cuda")]
mod gemm;
#[cfg(feature = "cuda")]
mod index;
#[cfg(feature = "cuda")]
mod lanes;
#[cfg(feature = "cuda")]
mod memory;
#[cfg(feature = "cuda")]
mod order;
#[cfg(feature = "cuda")]
mod present;
#[cfg(feature = "cuda")]
mod product;
#[cfg(feature = "cuda")]
pub(super) mod random;
#[cfg(feature = "cuda")]
mod reduce;
#[cfg(feature = "cuda")]
mod scan;
#[cfg(feature = "cuda")]
mod scatter;
#[cfg(feature = "cuda")]
mod select;
#[cfg(feature = "cuda")]
pub(crate) mod transfer;

use super::Device;
#[cfg(not(feature = "cuda"))]
pub(super) use absent::available;
#[cfg(feature = "cuda")]
pub use gemm::cublas_lt_version;
#[cfg(feature = "cuda")]
pub(super) use present::available;

/// The CUDA device with ordinal `N`: `Cuda<0>` is the first.
///
/// ```
/// use castiron::{shape, Cuda, Error, Tensor};
/// // Types check on every machine; making a tensor needs the device.
/// fn on_gpu(x: &Tensor<f32, shape![2, 3], Cuda<0>>) -> Tensor<f32, shape![2, 3], Cuda<0>> { x * 2.0 }
/// let made = Tensor::<f32, shape![2, 3], Cuda<63>>::try_zeros();
/// assert!(matches!(made, Err(Error::DeviceUnavailable { .. }))); // with fewer GPUs, or without CUDA
/// ```
///
/// It needs the feature `cuda`, and at run time an NVIDIA driver and, for kernels, NVRTC (CUDA 12 or 13: a toolkit, or `pip install
/// nvidia-cuda-nvrtc`), which are loaded on first use. Work on a device runs in the order in which it was started, from any thread; reading
/// elements waits for it. A kernel's fault is reported by a later call, and makes the device unusable in this process.
///
/// | variable | meaning |
/// |---|---|
/// | `CASTIRON_CUDA_LIB` | the folder (absolute, as in all variables) to search first for the driver's library and NVRTC; then the loader's search path, `CUDA_HOME`, `CUDA_PATH`, `/usr/local/cuda`, and `nvidia` in `VIRTUAL_ENV` |
/// | `CASTIRON_CUDA_CACHE` | the folder of compiled kernels (else `castiron/kernels` in `XDG_CACHE_HOME` or `~/.cache`), which must be owned by the user and writable by nobody else; empty: no disk cache |
/// | `CASTIRON_CUBLASLT` | `0` multiplies matrices without cublasLt, which is used if it is found next to the driver or NVRTC |
/// | `CASTIRON_CUDA_SYNC` | `1` waits for each kernel, so that a fault is reported by its cause |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuda<const N: usize>;

impl<const N: usize> Device for Cuda<N> {
    fn name() -> String {
        format!("cuda:{N}")
    }
}

/// The GPU named by an argument; `cuda` without an ordinal is the current one.
#[cfg(feature = "cuda")]
pub(crate) fn gpu(op: &'static str, device: impl super::IntoDevice) -> crate::Result<&'static crate::cuda::CudaDevice> {
    let device = super::AnyDevice::new(device)?;
    if device.kind() != super::DeviceType::CUDA {
        return crate::error::invalid(op, format!("`{device}` is not a device of `cuda`"));
    }
    crate::cuda::device(device.resolve()?.index().unwrap_or(0))
}

/// The number of GPUs: 0 without a driver (`torch.cuda.device_count`).
#[cfg(feature = "cuda")]
pub fn cuda_device_count() -> usize {
    crate::cuda::device::count()
}

/// Waits for all work on a GPU (`torch.cuda.synchronize`). Reading elements waits by itself: this is for measuring time, and for detecting
/// a kernel's fault.
///
/// # Errors
/// If the device is not a CUDA device or not available, or a kernel failed.
#[cfg(feature = "cuda")]
pub fn synchronize(device: impl super::IntoDevice) -> crate::Result<()> {
    gpu("synchronize", device)?.synchronize()
}
