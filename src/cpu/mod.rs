//! The host's loops: strided walks, elementwise kernels, reductions, lanes, gather and scatter, sorting, matrix
//! products.
//!
//! All `unsafe` access to strided memory is here. The loops take raw pointers and rely on `View`'s invariant: whatever a view reaches is
//! inside its buffer.

pub(crate) mod attention;
mod blocks;
mod bytes;
#[cfg(feature = "any")]
mod chained;
pub(crate) mod closures;
mod columns;
mod compiled;
mod complex_gemm;
pub(crate) mod compress;
pub(crate) mod conv;
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
#[cfg(feature = "linalg")]
pub(crate) mod factor;
pub(crate) mod fill;
mod float_gemm;
#[cfg(feature = "fft")]
pub(crate) mod fourier;
pub(crate) mod fused;
mod fused_plan;
pub(crate) mod gather;
pub(crate) mod gemm;
mod gemv;
mod half_gemm;
pub(crate) mod in_order;
pub(crate) mod index_rows;
mod indexing;
mod inner;
pub(crate) mod integer_gemm;
mod kernel_blocks;
mod kernel_body;
mod keys;
pub(crate) mod lanes;
mod lines;
mod lookup_tables;
pub(crate) mod non_temporal;
#[cfg(feature = "grad")]
pub(crate) mod norm_back;
pub(crate) mod order;
pub(crate) mod pick;
#[cfg(feature = "any")]
pub(crate) mod polynomials;
pub(crate) mod pool;
#[cfg(feature = "grad")]
pub(crate) mod pool_back;
mod precompiled;
pub(crate) mod read;
#[cfg(feature = "grad")]
pub(crate) mod recorded;
pub(crate) mod reduce;
pub(crate) mod resample;
mod reversing;
pub(crate) mod rows;
pub(crate) mod scatter;
pub(crate) mod search;
pub(crate) mod simd;
pub(crate) mod sparse;
#[cfg(feature = "grad")]
pub(crate) mod stepping;
pub(crate) mod threads;
mod tiles;
pub(crate) mod tiny_gemm;
#[cfg(target_arch = "x86_64")]
mod transpose;
pub(crate) mod walk;
#[cfg(feature = "grad")]
pub(crate) mod widened;
