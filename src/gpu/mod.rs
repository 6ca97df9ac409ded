//! CUDA for programs that know it: kernels of their own, graphs, and memory that other crates share.
//!
//! What declares a kernel is [`cuda_kernel!`](crate::cuda_kernel!); [`formula`](mod@crate::formula) says when something else serves better.

#[cfg(feature = "cudarc")]
pub mod cudarc;
#[cfg(feature = "cuda")]
mod graph;
mod kernel;
mod launch;
#[cfg(feature = "cuda")]
mod text;

#[cfg(feature = "cuda")]
pub use graph::{Graph, GraphTensors, capture};
pub use kernel::Written;
#[doc(hidden)]
pub use kernel::{Call, Names};
pub use launch::{Extent, Launch};
