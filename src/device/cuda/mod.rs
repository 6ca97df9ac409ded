//! `Cuda<N>`: the GPU with ordinal `N`. Programs over it type-check everywhere. If no GPU is available, or the build lacks the feature
//! `cuda`, making a tensor on it is an error.

#[cfg(not(feature = "cuda"))]
#[path = "absent.rs"]
mod present;
#[cfg(feature = "cuda")]
mod present;

use super::Device;
#[allow(unused_imports, reason = "without the feature none of them is public")]
pub use present::*;

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
