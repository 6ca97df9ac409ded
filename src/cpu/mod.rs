//! Runs operations on the host: strided walks, elementwise loops, reductions, lanes, matrix products.
//!
//! Everything `unsafe` about strided memory is in this room. Its loops see raw places and trust `View`'s invariant
//! (all that is reached lies inside the buffer). Uses operations, shapes and storage; used by the device `Cpu`.

pub(crate) mod elementwise;
pub(crate) mod gemm;
pub(crate) mod lanes;
pub(crate) mod reduce;
pub(crate) mod rows;
pub(crate) mod simd;
pub(crate) mod threads;
pub(crate) mod walk;
