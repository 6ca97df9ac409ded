//! The Cholesky factor of a positive-definite matrix, and solving with it.

use super::field::Field;
use super::{matrix, matrix_mut, scratch};
use crate::error::Result;
use faer::Par;
use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve as triangular;
use faer::prelude::ReborrowMut;

/// The Cholesky factor from one triangle of a matrix; returns the order of the first minor that is not positive, or 0.
pub(crate) fn cholesky<E: Field>(a: &[E], n: usize, upper: bool, factor: &mut [E]) -> Result<i32> {
    // The lower triangle, or the conjugate transpose of the upper one.
    factor.fill(E::zero_impl());
    for j in 0..n {
        for i in j..n {
            factor[j * n + i] = if upper { a[i * n + j].conjugate() } else { a[j * n + i] };
        }
        // The diagonal is taken as real, as in LAPACK.
        factor[j * n + j] = E::of_real(factor[j * n + j].real_part());
    }
    let mut memory = scratch(cholesky_in_place_scratch::<E>(n, Par::Seq, Default::default()))?;
    let result = cholesky_in_place(
        matrix_mut(factor, n, n),
        LltRegularization::default(),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    for j in 0..n {
        factor[j * n..j * n + j].fill(E::zero_impl());
    }
    if upper {
        adjoint_in_place(factor, n);
    }
    Ok(match result {
        Ok(_) => 0,
        Err(faer::linalg::cholesky::llt::factor::LltError::NonPositivePivot { index }) => index as i32 + 1,
    })
}

pub(super) fn adjoint_in_place<E: Field>(a: &mut [E], n: usize) {
    for j in 0..n {
        a[j * n + j] = a[j * n + j].conjugate();
        for i in j + 1..n {
            (a[j * n + i], a[i * n + j]) = (a[i * n + j].conjugate(), a[j * n + i].conjugate());
        }
    }
}

/// Solves `A x = b` in place, given the Cholesky factor of `A`.
pub(crate) fn cholesky_solve<E: Field>(factor: &[E], n: usize, upper: bool, b: &mut [E], columns: usize) {
    let (factor, mut b) = (matrix(factor, n, n), matrix_mut(b, n, columns));
    if upper {
        triangular::solve_lower_triangular_in_place(factor.adjoint(), b.rb_mut(), Par::Seq);
        triangular::solve_upper_triangular_in_place(factor, b, Par::Seq);
    } else {
        triangular::solve_lower_triangular_in_place(factor, b.rb_mut(), Par::Seq);
        triangular::solve_upper_triangular_in_place(factor.adjoint(), b, Par::Seq);
    }
}

/// The inverse from the Cholesky factor; returns the index of the first zero on the factor's diagonal, or 0.
pub(crate) fn cholesky_inverse<E: Field>(factor: &[E], n: usize, upper: bool, inverse: &mut [E]) -> i32 {
    inverse.fill(E::zero_impl());
    (0..n).for_each(|i| inverse[i * n + i] = E::one_impl());
    cholesky_solve(factor, n, upper, inverse, n);
    super::lu::info(factor, n, n)
}
