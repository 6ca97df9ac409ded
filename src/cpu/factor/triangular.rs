//! Triangular systems.

use super::field::Field;
use super::matrix;
use faer::linalg::triangular_solve as triangular;
use faer::{MatMut, Par};

/// Which triangle of a matrix is used, and how.
#[derive(Clone, Copy)]
pub(crate) struct Triangle {
    pub(crate) upper: bool,
    /// The diagonal is taken to be ones.
    pub(crate) unit: bool,
    /// Solves with the transpose.
    pub(crate) transposed: bool,
}

/// Solves `A x = b` in place. (`x A = b` is the transposed system of transposed views.)
pub(crate) fn solve_triangular<E: Field>(a: &[E], n: usize, triangle: Triangle, b: MatMut<'_, E>) {
    let a = matrix(a, n, n);
    let (a, upper) = if triangle.transposed { (a.transpose(), !triangle.upper) } else { (a, triangle.upper) };
    match (upper, triangle.unit) {
        (true, false) => triangular::solve_upper_triangular_in_place(a, b, Par::Seq),
        (true, true) => triangular::solve_unit_upper_triangular_in_place(a, b, Par::Seq),
        (false, false) => triangular::solve_lower_triangular_in_place(a, b, Par::Seq),
        (false, true) => triangular::solve_unit_lower_triangular_in_place(a, b, Par::Seq),
    }
}
