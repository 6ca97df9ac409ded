//! Factorisations of matrices: Cholesky, LU, QR, singular values and eigenvalues, and what they solve.
//! `erased` and `spectral` hold each operation over views, which the typed methods beside them and `any` call.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod eigen;
pub(crate) mod erased;
mod factors;
mod inverses;
pub(crate) mod lowrank;
pub(crate) mod matrices;
pub(crate) mod solutions;
mod solve;
pub(crate) mod spectral;

pub use eigen::Uplo;

#[cfg(feature = "any")]
pub(crate) use crate::cpu::factor::{Triangle, Vectors};
#[cfg(feature = "any")]
pub(crate) use erased::QrMode;
#[cfg(feature = "any")]
pub(crate) use matrices::Part;
#[cfg(feature = "any")]
pub(crate) use spectral::{Driver, Norm, Tolerance};
