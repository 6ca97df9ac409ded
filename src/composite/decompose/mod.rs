//! Factorisations of matrices: Cholesky, LU, QR, singular values and eigenvalues, and solvers by them. The matrices themselves are factored
//! in `cpu/factor`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub(crate) mod cholesky;
pub(crate) mod determinant;
pub(crate) mod eigen;
pub(crate) mod indefinite;
pub(crate) mod inverse;
pub(crate) mod least_squares;
pub(crate) mod lowrank;
pub(crate) mod lu;
mod matrices;
pub(crate) mod norm;
pub(crate) mod qr;
pub(crate) mod singular;
pub(crate) mod solve;

rows_of!(cholesky, determinant, eigen, indefinite, inverse, least_squares, lowrank, lu, norm, qr, singular, solve);
