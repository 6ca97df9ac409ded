//! Factorisations of matrices in host memory, one function per matrix, column-major, with LAPACK's conventions, on top of `faer`'s
//! products, triangular solves and eigenvalue iterations.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub(crate) mod batch;
mod cholesky;
pub(crate) mod eigen;
mod exponential;
pub(crate) mod field;
mod householder;
mod ldl;
mod lu;
mod scale;
mod svd;
mod triangular;

pub(crate) use cholesky::{cholesky, cholesky_inverse, cholesky_solve};
pub(crate) use eigen::{eigenvalues_of_symmetric, normalized};
pub(crate) use exponential::exponential;
pub(crate) use householder::{Applied, apply, columns_of_q, qr};
pub(crate) use ldl::{ldl, ldl_solve};
pub(crate) use lu::{info, inverse, lu, permutation, solve_factored};
pub(crate) use scale::{Scaled, scale};
pub(crate) use svd::{Vectors, svd};
pub(crate) use triangular::{Triangle, solve_triangular};

use crate::error::{Error, Result, listed};
use faer::{MatMut, MatRef};

/// `info` for a matrix with a non-finite element, and for an iteration that did not converge.
pub(crate) const NOT_FINITE: i32 = 1;
pub(crate) const NOT_CONVERGED: i32 = 2;

/// The message for these; about the matrix it states only what was found.
pub(crate) fn not_found(info: i32, not_finite: &str) -> String {
    if info == NOT_FINITE { not_finite.to_owned() } else { "The algorithm failed to converge.".to_owned() }
}

/// A column-major matrix view.
fn matrix<E>(elements: &[E], rows: usize, columns: usize) -> MatRef<'_, E> {
    MatRef::from_column_major_slice(&elements[..rows * columns], rows, columns)
}

/// A mutable column-major matrix view.
fn matrix_mut<E>(elements: &mut [E], rows: usize, columns: usize) -> MatMut<'_, E> {
    MatMut::from_column_major_slice_mut(&mut elements[..rows * columns], rows, columns)
}

/// Whether every element is finite.
pub(crate) fn all_finite<E: field::Field>(elements: &[E]) -> bool {
    elements.iter().all(|x| x.finite())
}

/// Scratch memory for `faer`, or an error.
fn scratch(request: faer::dyn_stack::StackReq) -> Result<faer::dyn_stack::MemBuffer> {
    let bytes = request.unaligned_bytes_required();
    faer::dyn_stack::MemBuffer::try_new(request).map_err(|_| Error::OutOfMemory { bytes, device: "cpu" })
}

/// A copy to be overwritten, or an error if memory runs out.
pub(crate) fn copied<E: Copy>(elements: &[E]) -> Result<Vec<E>> {
    listed(elements.iter().copied())
}
