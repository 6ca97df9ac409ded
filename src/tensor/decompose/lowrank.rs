//! Decompositions of low rank by random projections: `svd_lowrank` and `pca_lowrank`.
//!
//! Source: algorithms 4.4 and 5.1 of Halko, Martinsson, Tropp, "Finding structure with randomness" (2011), as in PyTorch's
//! `torch/_lowrank.py`. Uses `decompose::matrices`, `cpu::factor`, `create::random`; used by `any`.

use super::erased::{Of, no_singular_values};
use super::matrices::{Part, Results, area, cost, operand, parts_of, run};
use crate::cpu::factor::batch::Lens;
use crate::cpu::factor::field::Field;
use crate::cpu::factor::{self, NOT_FINITE, Scaled, Vectors};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Result, filled, invalid, listed};
use crate::shape::{Dim, Known, Matrices, MatrixParts, Shape};
use crate::tensor::{Generator, Tensor};
use castiron_macros::fallible;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// How a matrix is decomposed.
#[derive(Clone, Copy)]
pub(crate) struct LowRank {
    pub(crate) op: &'static str,
    /// How many singular values are computed: at most the smaller size of the matrix.
    pub(crate) rank: usize,
    /// How often the random projection is improved by a multiplication with the matrix and its adjoint.
    pub(crate) iterations: usize,
    /// Whether the mean of each column is subtracted.
    pub(crate) centers: bool,
}

/// The most iterations. (A few are enough; a number that is none would take years.)
const MOST_ITERATIONS: usize = 1000;

/// The adjoint of a matrix that stands column by column.
fn adjoint<E: Field>(a: &[E], [m, n]: [usize; 2]) -> Result<Vec<E>> {
    listed((0..m * n).map(|at| a[at % n * m + at / n].conjugate()))
}

/// `a b`, of sizes `(m, k)` and `(k, n)`, or with the adjoint of `a`, `(k, m)`, in its place.
fn product<E: Field>(a: &[E], is_adjoint: bool, b: &[E], [m, k, n]: [usize; 3]) -> Result<Vec<E>> {
    let mut product = filled(E::zero_impl(), m * n)?;
    let (to, b) = (MatMut::from_column_major_slice_mut(&mut product, m, n), MatRef::from_column_major_slice(b, k, n));
    if is_adjoint {
        let a = MatRef::from_column_major_slice(a, k, m);
        matmul(to, Accum::Replace, a.adjoint(), b, E::one_impl(), Par::Seq);
    } else {
        matmul(to, Accum::Replace, MatRef::from_column_major_slice(a, m, k), b, E::one_impl(), Par::Seq);
    }
    Ok(product)
}

/// Orthonormal columns that span those of a matrix with no fewer rows than columns.
fn orthonormal<E: Field>(mut a: Vec<E>, [m, n]: [usize; 2]) -> Result<Vec<E>> {
    let (mut tau, mut q) = (filled(E::zero_impl(), n)?, filled(E::zero_impl(), m * n)?);
    factor::qr(&mut a, m, n, &mut tau)?;
    factor::columns_of_q(&a, m, &tau, &mut q, n)?;
    Ok(q)
}

/// `U`, `S` and `V` of matrices of about so low a rank: `(…, M, Q)`, `(…, Q)` and `(…, N, Q)`.
pub(crate) fn lowrank<E: Field, D: Device>(
    how: LowRank,
    a: Of<'_, D, E>,
    generator: &mut Generator,
) -> Result<[Part<D>; 3]> {
    let LowRank { op, rank, iterations, centers } = how;
    let (batch, [m, n]) = parts_of(op, a.sizes)?;
    if rank > m.min(n) {
        return invalid(op, format!("q(={rank}) must be not greater than min(m, n)={}", m.min(n)));
    }
    if iterations > MOST_ITERATIONS {
        return invalid(op, format!("niter(={iterations}) must be at most {MOST_ITERATIONS}"));
    }
    let (long, short) = (m.max(n), m.min(n));
    let count = if D::has_data(a.buffer) { short * rank } else { 0 };
    let directions: Vec<E> = listed((0..count).map(|_| E::normal(&mut || generator.normal())))?;
    let (results, a) = (Results::<D> { op, beside: a.buffer, batch }, operand::<E, D>(a, batch, 2)?);
    let lens = Lens { own: [area(m, rank), area(n, rank), 0], real: [rank, 0], ..Lens::default() };
    let nanoseconds = cost([m, n, rank.saturating_mul(2 * iterations + 2)]);
    let done = run(&results, nanoseconds, lens, &|at, slots| {
        let ([u, v, _], [s, _]) = (slots.own, slots.real);
        if !factor::all_finite(a.at(at)) {
            return Ok(NOT_FINITE);
        }
        let Scaled { elements: mut a, exponent } = Scaled::of(a.at(at))?;
        if centers {
            for column in a.chunks_mut(m.max(1)) {
                let sum = column.iter().fold(E::zero_impl(), |sum, &x| sum + x);
                let mean = sum / E::of_f64(m as f64);
                column.iter_mut().for_each(|x| *x -= mean);
            }
        }
        // A matrix with more columns than rows is decomposed by its adjoint.
        let is_wide = m < n;
        let a = if is_wide { adjoint(&a, [m, n])? } else { a };
        let mut basis = orthonormal(product(&a, false, &directions, [long, short, rank])?, [long, rank])?;
        for _ in 0..iterations {
            let across = orthonormal(product(&a, true, &basis, [short, long, rank])?, [short, rank])?;
            basis = orthonormal(product(&a, false, &across, [long, short, rank])?, [long, rank])?;
        }
        let small = product(&basis, true, &a, [rank, long, short])?;
        let (mut left, mut right) = (filled(E::zero_impl(), rank * rank)?, filled(E::zero_impl(), rank * short)?);
        let info = factor::svd(&small, [rank, short], Vectors::Reduced, &mut left, s, &mut right)?;
        factor::scale(s, exponent);
        let (of_long, of_short) = if is_wide { (v, u) } else { (u, v) };
        of_long.copy_from_slice(&product(&basis, false, &left, [long, rank, rank])?);
        of_short.copy_from_slice(&adjoint(&right, [rank, short])?);
        Ok(info)
    })?;
    results.check(&done.info, no_singular_values)?;
    let ([u, v, _], [s, _]) = (done.own, done.real);
    Ok([results.matrices(u, [m, rank])?, results.vectors(s, rank)?, results.matrices(v, [n, rank])?])
}

/// `U`, `S` and `V`.
type Factors<E, Re, S, Q, D> = (
    Tensor<E, <S as MatrixParts>::With<<S as MatrixParts>::Rows, Q>, D>,
    Tensor<Re, <S as MatrixParts>::WithVectors<Q>, D>,
    Tensor<E, <S as MatrixParts>::With<<S as MatrixParts>::Columns, Q>, D>,
);

/// Singular values and vectors of matrices of low rank.
impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// `(U, S, V)` with `A` about `U diag(S) Vᴴ` for matrices of low rank: the `Q` largest singular values, from random projections that are
    /// improved `niter` times (2 is enough for most). `(…, M, N)` gives `(…, M, Q)`, `(…, Q)` and `(…, N, Q)`.
    ///
    /// PyTorch: `torch.svd_lowrank`; its `M` is subtracted before. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If `Q` is more than the smaller size, `niter` more than 1000, an element is not finite, or memory runs out.
    ///
    /// ```
    /// use castiron::{Generator, Tensor, dim, shape, tensor};
    /// let x = tensor![[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]];
    /// let (u, s, v) = x.svd_lowrank::<dim!(1), _>(2, &mut Generator::seeded(0));
    /// assert!((&u * &s).matmul(&v.mT()).allclose(&x));
    /// let (u, v): (Tensor<f32, shape![2, 1]>, Tensor<f32, shape![3, 1]>) = (u, v);
    /// ```
    #[fallible]
    pub fn svd_lowrank<Q: Dim + Known, Re: Element>(
        &self,
        niter: usize,
        generator: &mut Generator,
    ) -> Result<Factors<E, Re, S, Q, D>>
    where
        E: Field<Re = Re>,
        S: Matrices,
    {
        let how = LowRank { op: "svd_lowrank", rank: Q::VALUE, iterations: niter, centers: false };
        self.typed_lowrank(how, generator)
    }

    /// [`svd_lowrank`](Self::svd_lowrank) after the mean of each column has been subtracted: principal components. Of `M` samples with `N`
    /// features each, the columns of `V` are the principal directions, and `S² / (M - 1)` their variances.
    ///
    /// PyTorch: `torch.pca_lowrank` with `center=True`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If `Q` is more than the smaller size, `niter` more than 1000, an element is not finite, or memory runs out.
    ///
    /// ```
    /// use castiron::{Generator, dim, tensor};
    /// let points = tensor![[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]];
    /// let (_, s, v) = points.pca_lowrank::<dim!(1), _>(2, &mut Generator::seeded(0));
    /// assert!((s.item() - 2.0).abs() < 1e-6 && (v[(0, 0)] - v[(1, 0)]).abs() < 1e-6);
    /// ```
    #[fallible]
    pub fn pca_lowrank<Q: Dim + Known, Re: Element>(
        &self,
        niter: usize,
        generator: &mut Generator,
    ) -> Result<Factors<E, Re, S, Q, D>>
    where
        E: Field<Re = Re>,
        S: Matrices,
    {
        let how = LowRank { op: "pca_lowrank", rank: Q::VALUE, iterations: niter, centers: true };
        self.typed_lowrank(how, generator)
    }

    fn typed_lowrank<Q: Dim, Re: Element>(
        &self,
        how: LowRank,
        generator: &mut Generator,
    ) -> Result<Factors<E, Re, S, Q, D>>
    where
        E: Field<Re = Re>,
        S: Matrices,
    {
        let [u, s, v] = lowrank::<E, D>(how, self.elements(), generator)?;
        Ok((u.typed(how.op)?, s.typed(how.op)?, v.typed(how.op)?))
    }
}
