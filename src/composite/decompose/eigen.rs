//! Eigenvalues.

use super::matrices::{area, cost};
use crate::composite::{Erased, Owned};
use crate::cpu::factor::batch::Lens;
use crate::cpu::factor::{self, NOT_CONVERGED, NOT_FINITE, Scaled, field::Field};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
#[cfg(feature = "any")]
use crate::error::invalid;
use crate::ops::decompose as ops;
use crate::shape::{Dim, Matrices, SquareFor};
use crate::tensor::Tensor;
use castiron_macros::composites;

/// Which triangle of a symmetric or Hermitian matrix is read (PyTorch's `UPLO`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Uplo {
    /// The one below the diagonal.
    #[default]
    Lower,
    /// The one above it.
    Upper,
}
#[cfg(feature = "any")]
impl Uplo {
    fn named(op: &'static str, name: &str) -> Result<Self> {
        match name {
            "L" | "l" => Ok(Uplo::Lower),
            "U" | "u" => Ok(Uplo::Upper),
            other => invalid(op, format!("Expected UPLO argument to be 'L' or 'U', but got {other}")),
        }
    }
}

#[composites]
impl<E: Field, D: Device> Erased<'_, E, D> {
    /// Ascending eigenvalues and, in columns, eigenvectors of symmetric or Hermitian matrices; only one triangle is read.
    ///
    /// # Errors
    /// If matrices are not square.
    #[op(linalg.eigh(A, UPLO = "L"), dtypes = field)]
    #[any(uplo: &str = Uplo::named("linalg.eigh", uplo)?)]
    #[typed(<N: Dim, Re: Element>(&self, uplo: Uplo) -> (Tensor<Re, S::WithVectors<N>, D>, Self)
        where
            E: Field<Re = Re>,
            S: Matrices<Rows: SquareFor<S::Columns, ops::eigh, Side = N>>)]
    #[example(let x = tensor![[2.0, 0.0], [0.0, 1.0]]; x.eigh(Uplo::Lower), x.eigh("L"), (tensor![1.0, 2.0], _))]
    pub(crate) fn eigh(&self, uplo: Uplo) -> Result<(Owned<E::Re, D>, Owned<E, D>)> {
        let op = "linalg.eigh";
        self.eigenvalues_of_symmetric(op, uplo, true)
    }

    /// The eigenvalues of [`eigh`](Self::eigh).
    ///
    /// # Errors
    /// If matrices are not square.
    #[op(linalg.eigvalsh(A, UPLO = "L"), dtypes = field)]
    #[any(uplo: &str = Uplo::named("linalg.eigvalsh", uplo)?)]
    #[typed(<N: Dim, Re: Element>(&self, uplo: Uplo) -> Tensor<Re, S::WithVectors<N>, D>
        where
            E: Field<Re = Re>,
            S: Matrices<Rows: SquareFor<S::Columns, ops::eigvalsh, Side = N>>)]
    #[example(let x = tensor![[2.0, 0.0], [0.0, 1.0]]; x.eigvalsh(Uplo::Lower), x.eigvalsh("L"), tensor![1.0, 2.0])]
    pub(crate) fn eigvalsh(&self, uplo: Uplo) -> Result<Owned<E::Re, D>> {
        let op = "linalg.eigvalsh";
        Ok(self.eigenvalues_of_symmetric(op, uplo, false)?.0)
    }

    fn eigenvalues_of_symmetric(
        &self,
        op: &'static str,
        uplo: Uplo,
        vectors: bool,
    ) -> Result<(Owned<E::Re, D>, Owned<E, D>)> {
        let (batch, a, n) = self.as_squares(op)?;
        let columns = if vectors { n } else { 0 };
        let lens = Lens { own: [area(n, columns), 0, 0], real: [n, 0], ..Lens::default() };
        let done = batch.run(cost([n, n, n.saturating_mul(6)]), lens, |at, slots| {
            let ([v, ..], [w, _]) = (slots.own, slots.real);
            factor::eigenvalues_of_symmetric(a.at(at), n, uplo == Uplo::Upper, w, v)
        })?;
        batch.check(&done.info, |info| factor::not_found(info, ""))?;
        let ([v, ..], [w, _]) = (done.own, done.real);
        Ok((batch.vectors(w, n)?, batch.matrices(v, [n, columns])?))
    }

    /// Eigenvalues and, in columns of norm 1, eigenvectors, both complex.
    ///
    /// # Errors
    /// If an element is not finite, or matrices are not square.
    #[op(linalg.eig(A), dtypes = field)]
    #[typed(<N: Dim, Cx: Element>(&self) -> (Tensor<Cx, S::WithVectors<N>, D>, Tensor<Cx, S, D>)
        where
            E: Field<Cx = Cx>,
            S: Matrices<Rows: SquareFor<S::Columns, ops::eig, Side = N>>)]
    #[example(let x = tensor![[0.0, -1.0], [1.0, 0.0]]; x.eig(), x.eig(), (tensor![Complex::new(0.0_f32, 1.0), Complex::new(0.0, -1.0)], _))]
    pub(crate) fn eig(&self) -> Result<(Owned<E::Cx, D>, Owned<E::Cx, D>)> {
        let op = "linalg.eig";
        self.eigenvalues(op, true)
    }

    /// The eigenvalues of [`eig`](Self::eig).
    ///
    /// # Errors
    /// If an element is not finite, or matrices are not square.
    #[op(linalg.eigvals(A), dtypes = field)]
    #[typed(<N: Dim, Cx: Element>(&self) -> Tensor<Cx, S::WithVectors<N>, D>
        where
            E: Field<Cx = Cx>,
            S: Matrices<Rows: SquareFor<S::Columns, ops::eigvals, Side = N>>)]
    #[example(let x = tensor![[2.0]]; x.eigvals(), x.eigvals(), tensor![Complex::new(2.0_f32, 0.0)])]
    pub(crate) fn eigvals(&self) -> Result<Owned<E::Cx, D>> {
        let op = "linalg.eigvals";
        Ok(self.eigenvalues(op, false)?.0)
    }

    fn eigenvalues(&self, op: &'static str, vectors: bool) -> Result<(Owned<E::Cx, D>, Owned<E::Cx, D>)> {
        let (batch, a, n) = self.as_squares(op)?;
        let columns = if vectors { n } else { 0 };
        let lens = Lens { complex: [n, area(n, columns)], ..Lens::default() };
        let done = batch.run::<E>(cost([n, n, n.saturating_mul(20)]), lens, |at, slots| {
            let ([w, v], a) = (slots.complex, a.at(at));
            if !factor::all_finite(a) {
                return Ok(NOT_FINITE);
            }
            if n == 0 {
                return Ok(0);
            }
            let Scaled { elements, exponent } = Scaled::of(a)?;
            let matrix = faer::MatRef::from_column_major_slice(&elements, n, n);
            let Some((values, columns)) = E::eigen(matrix, vectors)? else { return Ok(NOT_CONVERGED) };
            w.copy_from_slice(&values);
            factor::scale(w, exponent);
            if vectors {
                v.copy_from_slice(&columns);
                factor::normalized::<E::Cx>(v, n);
            }
            Ok(0)
        })?;
        batch.check(&done.info, |info| factor::not_found(info, "input tensor should not contain infs or NaNs."))?;
        let [w, v] = done.complex;
        Ok((batch.vectors(w, n)?, batch.matrices(v, [n, columns])?))
    }
}
