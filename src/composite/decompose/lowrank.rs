//! Decompositions of low rank by random projections: `svd_lowrank` and `pca_lowrank`.
//!
//! Source: algorithms 4.4 and 5.1 of Halko, Martinsson, Tropp, "Finding structure with randomness" (2011), as in PyTorch's
//! `torch/_lowrank.py`.

use super::matrices::{Batch, area, cost};
use super::singular::not_found;
use crate::composite::{Erased, Owned};
use crate::cpu::factor::batch::Lens;
use crate::cpu::factor::{self, NOT_FINITE, Scaled, Vectors, field::Field};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Result, filled, invalid, listed};
use crate::shape::{Dim, Known, Matrices, MatrixParts};
use crate::tensor::{Generator, Tensor};
use castiron_macros::composites;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// The maximal number of iterations: a few are enough, and a huge number by mistake would run for years.
const MOST_ITERATIONS: usize = 1000;

/// The adjoint of a column-major matrix.
fn adjoint<E: Field>(a: &[E], [m, n]: [usize; 2]) -> Result<Vec<E>> {
    listed((0..m * n).map(|at| a[at % n * m + at / n].conjugate()))
}

/// `a b`, of sizes `(m, k)` and `(k, n)`, or if `is_adjoint` with the adjoint of `a`, which is `(k, m)`.
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

/// An orthonormal basis of the columns of a matrix with no fewer rows than columns.
fn orthonormal<E: Field>(mut a: Vec<E>, [m, n]: [usize; 2]) -> Result<Vec<E>> {
    let (mut tau, mut q) = (filled(E::zero_impl(), n)?, filled(E::zero_impl(), m * n)?);
    factor::qr(&mut a, m, n, &mut tau)?;
    factor::columns_of_q(&a, m, &tau, &mut q, n)?;
    Ok(q)
}

/// `U`, `S` and `V`.
type Factors<E, Re, S, Q, D> = (
    Tensor<E, <S as MatrixParts>::With<<S as MatrixParts>::Rows, Q>, D>,
    Tensor<Re, <S as MatrixParts>::WithVectors<Q>, D>,
    Tensor<E, <S as MatrixParts>::With<<S as MatrixParts>::Columns, Q>, D>,
);

#[composites]
impl<E: Field, D: Device> Erased<'_, E, D> {
    /// `(U, S, V)` with `A` approximately `U diag(S) Vᴴ` for low-rank matrices: the `q` largest singular values, from random projections
    /// that are refined `niter` times (2 is mostly enough). `(…, M, N)` gives `(…, M, Q)`, `(…, Q)` and `(…, N, Q)`. PyTorch's `M` is to be
    /// subtracted before.
    ///
    /// # Errors
    /// If `q` is more than the smaller size (`AnyTensor` gives all singular values then), `niter` more than 1000, or an element is not
    /// finite.
    #[op(svd_lowrank, dtypes = field)]
    #[any(q: usize = q.min(self.shorter_side("svd_lowrank")?))]
    #[typed(<Q: Dim + Known, Re: Element>(&self, niter: usize, generator: &mut Generator) -> Factors<E, Re, S, Q, D>
        where
            E: Field<Re = Re>,
            S: Matrices;
        q = Q::VALUE)]
    #[example(let x = tensor![[3.0, 0.0], [4.0, 0.0]]; let mut g = Generator::seeded(0); x.svd_lowrank::<dim!(1), _>(2, &mut g), x.svd_lowrank(1, 2, &mut g), (_, ~ tensor![5.0], _))]
    pub(crate) fn svd_lowrank(
        &self,
        q: usize,
        niter: usize,
        generator: &mut Generator,
    ) -> Result<(Owned<E, D>, Owned<E::Re, D>, Owned<E, D>)> {
        let op = "svd_lowrank";
        self.lowrank(op, q, false, niter, generator)
    }

    /// [`svd_lowrank`](Self::svd_lowrank) after the mean of each column is subtracted: principal components. For `M` samples with `N`
    /// features each, the columns of `V` are the principal directions, and `S² / (M - 1)` their variances.
    ///
    /// # Errors
    /// If `q` is more than the smaller size, `niter` more than 1000, or an element is not finite.
    #[op(pca_lowrank, dtypes = field)]
    #[any(q: Option<usize> = match q {
        Some(q) => q,
        None => self.shorter_side("pca_lowrank")?.min(6),
    })]
    #[typed(<Q: Dim + Known, Re: Element>(&self, niter: usize, generator: &mut Generator) -> Factors<E, Re, S, Q, D>
        where
            E: Field<Re = Re>,
            S: Matrices;
        q = Q::VALUE, center = true)]
    #[example(let x = tensor![[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]; let mut g = Generator::seeded(0); x.pca_lowrank::<dim!(1), _>(2, &mut g), x.pca_lowrank(Some(1), true, 2, &mut g), (_, ~ tensor![2.0], _))]
    pub(crate) fn pca_lowrank(
        &self,
        q: usize,
        center: bool,
        niter: usize,
        generator: &mut Generator,
    ) -> Result<(Owned<E, D>, Owned<E::Re, D>, Owned<E, D>)> {
        let op = "pca_lowrank";
        self.lowrank(op, q, center, niter, generator)
    }

    fn lowrank(
        &self,
        op: &'static str,
        rank: usize,
        center: bool,
        iterations: usize,
        generator: &mut Generator,
    ) -> Result<(Owned<E, D>, Owned<E::Re, D>, Owned<E, D>)> {
        let (lead, [m, n]) = self.split_matrices(op)?;
        if rank > m.min(n) {
            return invalid(op, format!("q(={rank}) must be not greater than min(m, n)={}", m.min(n)));
        }
        if iterations > MOST_ITERATIONS {
            return invalid(op, format!("niter(={iterations}) must be at most {MOST_ITERATIONS}"));
        }
        let (long, short) = (m.max(n), m.min(n));
        let count = if D::has_data(self.storage()) { short * rank } else { 0 };
        let directions: Vec<E> = listed((0..count).map(|_| E::normal(&mut || generator.normal())))?;
        let (batch, a) = (Batch::beside(op, self, lead), self.matrices_of(op, lead)?);
        let lens = Lens { own: [area(m, rank), area(n, rank), 0], real: [rank, 0], ..Lens::default() };
        let nanoseconds = cost([m, n, rank.saturating_mul(2 * iterations + 2)]);
        let done = batch.run(nanoseconds, lens, |at, slots| {
            let ([u, v, _], [s, _]) = (slots.own, slots.real);
            if !factor::all_finite(a.at(at)) {
                return Ok(NOT_FINITE);
            }
            let Scaled { elements: mut a, exponent } = Scaled::of(a.at(at))?;
            if center {
                for column in a.chunks_mut(m.max(1)) {
                    let sum = column.iter().fold(E::zero_impl(), |sum, &x| sum + x);
                    let mean = sum / E::of_f64(m as f64);
                    column.iter_mut().for_each(|x| *x -= mean);
                }
            }
            // A matrix with more columns than rows is decomposed through its adjoint.
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
        batch.check(&done.info, not_found)?;
        let ([u, v, _], [s, _]) = (done.own, done.real);
        Ok((batch.matrices(u, [m, rank])?, batch.vectors(s, rank)?, batch.matrices(v, [n, rank])?))
    }
}

#[cfg(feature = "any")]
impl crate::any::AnyTensor {
    /// The smaller size of matrices.
    fn shorter_side(&self, op: &'static str) -> Result<usize> {
        match *self.shape() {
            [.., m, n] => Ok(m.min(n)),
            _ => invalid(op, "the input tensor A must have at least 2 dimensions".to_owned()),
        }
    }
}
