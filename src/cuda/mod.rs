//! The CUDA runtime: the driver, NVRTC and cublasLt, loaded on first use; devices, their memory, kernels compiled from text, and launches.
//! The only place that calls the driver.
//!
//! ```text
//! bindings types and constants of NVIDIA's headers
//! driver   libraries and their functions, or what is missing
//! device   one context, one stream, one memory pool for each GPU
//! staging  large copies by way of pinned memory
//! buffer   memory on a device, counted and freed in the stream's order
//! compile  text -> CUBIN -> kernel, kept in memory and on disk
//! launch   a kernel over a number of elements
//! blas     products of matrices by cublasLt, each by a plan
//! recording  a thread's work as a graph that is replayed
//! ```
//!
//! All work on a device is ordered by its only stream: memory is freed there after everything that reads it, and only reads by the host
//! wait.

mod bindings;
pub(crate) mod blas;
pub(crate) mod buffer;
pub(crate) mod compile;
pub(crate) mod device;
mod disk;
mod driver;
mod environment;
#[cfg(feature = "profile")]
mod event;
pub(crate) mod launch;
mod library;
mod plan;
pub(crate) mod recording;
mod staging;
pub mod test_hooks;

pub use buffer::CudaBuffer;
pub(crate) use device::{CudaDevice, device};
#[cfg(feature = "profile")]
pub(crate) use event::Event;
