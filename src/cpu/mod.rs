//! Runs operations on the host: strided walks, elementwise loops, reductions, lanes, matrix products.
//!
//! Everything `unsafe` about strided memory is in this room. Its loops see raw places and trust `View`'s invariant
//! (all that is reached lies inside the buffer). Uses operations, shapes and storage; used by the device `Cpu`.

mod bytes;
mod compiled;
mod complex_gemm;
pub(crate) mod compress;
mod convert;
mod copying;
mod dots;
pub(crate) mod elementwise;
mod engine;
pub(crate) mod epilogue;
#[cfg(feature = "any")]
pub(crate) mod erased;
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
mod f16_inner;
pub(crate) mod fused;
pub(crate) mod gather;
pub(crate) mod gemm;
mod gemv;
mod half_gemm;
mod indexing;
mod inner;
pub(crate) mod integer_gemm;
mod keys;
pub(crate) mod lanes;
mod lookup;
pub(crate) mod moving;
pub(crate) mod non_temporal;
pub(crate) mod order;
pub(crate) mod reduce;
pub(crate) mod rows;
pub(crate) mod scatter;
pub(crate) mod search;
pub(crate) mod simd;
pub(crate) mod sparse;
pub(crate) mod threads;
#[cfg(target_arch = "x86_64")]
mod transpose;
pub(crate) mod walk;
