//! CUDA that programs bring themselves: kernels whose text is theirs.
//!
//! What declares a kernel is [`cuda_kernel!`](crate::cuda_kernel!); [`formula`](mod@crate::formula) says when something else serves better.

#[cfg(feature = "cudarc")]
pub mod cudarc;
mod kernel;
mod launch;
#[cfg(feature = "cuda")]
mod text;

pub use kernel::Written;
#[doc(hidden)]
pub use kernel::{Call, Names};
pub use launch::{Extent, Launch};
