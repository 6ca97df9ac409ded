//! Singular values and vectors.

use super::field::Field;
use super::{NOT_CONVERGED, NOT_FINITE, Scaled, matrix, matrix_mut, scale, scratch};
use crate::error::{Result, filled};
use faer::Par;
use faer::diag::DiagMut;
use faer::dyn_stack::MemStack;
use faer::linalg::svd::{ComputeSvdVectors, svd as faer_svd, svd_scratch};

/// Which vectors are computed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vectors {
    None,
    Reduced,
    Complete,
}

/// `A = U diag(S) Vh`, with descending singular values. `u` and `vh` are empty where vectors are not requested. Returns 0 for success, or
/// the reason of failure ([`not_found`](super::not_found)).
pub(crate) fn svd<E: Field>(
    a: &[E],
    [m, n]: [usize; 2],
    vectors: Vectors,
    u: &mut [E],
    s: &mut [E::Re],
    vh: &mut [E],
) -> Result<i32> {
    if !super::all_finite(a) {
        return Ok(NOT_FINITE);
    }
    let k = m.min(n);
    let (asked, u_columns, v_columns) = match vectors {
        Vectors::None => (ComputeSvdVectors::No, 0, 0),
        Vectors::Reduced => (ComputeSvdVectors::Thin, k, k),
        Vectors::Complete => (ComputeSvdVectors::Full, m, n),
    };
    if k == 0 {
        u.fill(E::zero_impl());
        vh.fill(E::zero_impl());
        (0..m.min(u_columns)).for_each(|i| u[i * m + i] = E::one_impl());
        (0..n.min(v_columns)).for_each(|i| vh[i * v_columns + i] = E::one_impl());
        return Ok(0);
    }
    let Scaled { elements, exponent } = Scaled::of(a)?;
    let mut values = filled(E::zero_impl(), k)?;
    let mut v = filled(E::zero_impl(), n * v_columns)?;
    let has_vectors = vectors != Vectors::None;
    let mut memory = scratch(svd_scratch::<E>(m, n, asked, asked, Par::Seq, Default::default()))?;
    let result = faer_svd(
        matrix(&elements, m, n),
        DiagMut::from_slice_mut(&mut values),
        has_vectors.then(|| matrix_mut(u, m, u_columns)),
        has_vectors.then(|| matrix_mut(&mut v, n, v_columns)),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    for (to, value) in s.iter_mut().zip(values) {
        *to = value.real_part();
    }
    scale(s, exponent);
    for j in 0..v_columns {
        for i in 0..n {
            vh[i * v_columns + j] = v[j * n + i].conjugate();
        }
    }
    Ok(if result.is_ok() { 0 } else { NOT_CONVERGED })
}
