//! Eigenvalues.

use super::matrices::{area, cost};
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
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
use core::marker::PhantomData;

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
        self.split_squares(op)?;
        // The derivative reads the vectors.
        let vectors = vectors || D::is_tracked(self.storage());
        D::primitive(&Symmetric::<E> { op, uplo, vectors, dtype: PhantomData }, (Erased::of(self.view()),))
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
        self.split_squares(op)?;
        let vectors = vectors || D::is_tracked(self.storage());
        D::primitive(&General::<E> { op, vectors, dtype: PhantomData }, (Erased::of(self.view()),))
    }
}

/// Eigenvalues of Hermitian matrices, and the vectors if they are wanted.
#[derive(Clone)]
struct Symmetric<E> {
    op: &'static str,
    uplo: Uplo,
    vectors: bool,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Field> Primitive for Symmetric<E> {
    type Operands = (E,);
    type Results = (E::Re, E);
    fn op(&self) -> &'static str {
        self.op
    }
    fn run<D: Device>(&self, (x,): On<'_, (E,), D>) -> Result<On<'static, (E::Re, E), D>> {
        let Symmetric { op, uplo, vectors, .. } = *self;
        let (batch, a, n) = x.as_squares(op)?;
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
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0, 0b11];
    /// `V (g_L + P / E) V^H` with the skew part `P` of `V^H g_V`, and `E_ij = L_j - L_i` (`linalg_eig_backward`)
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let (values, v) = (read(&back.y.0)?, read(&back.y.1)?);
        let (of_values, of_vectors) = &back.g;
        let mut inner = of_values.as_ref().map(|g| g.cast::<E>()?.as_diagonals()).transpose()?;
        if let Some(g) = of_vectors {
            let p = v.adjoint_times(g)?;
            let p = p.minus(&p.adjoint()?)?.scaled_by(0.5)?;
            let p = p.over(&apart(values)?.cast::<E>()?)?;
            inner = Some(match inner {
                // There are zeros on the diagonal, or the function depends on the phases of vectors.
                Some(inner) => inner.plus(&p.minus(&p.main_diagonals()?.as_diagonals()?)?)?,
                None => p,
            });
        }
        let Some(inner) = inner else { return Ok((None,)) };
        Ok((Some(v.product(&inner)?.times_adjoint(v)?),))
    }
}
/// `L_j - L_i`, 1 on the diagonal
#[cfg(feature = "grad")]
fn apart<E: Field, D: Device>(values: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
    let eye = values.identity_beside(values.sizes()[values.rank() - 1])?;
    values.as_rows_of_one()?.minus(&values.as_columns()?)?.plus(&eye)
}

/// Eigenvalues, and the vectors if they are wanted.
#[derive(Clone)]
struct General<E> {
    op: &'static str,
    vectors: bool,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Field> Primitive for General<E> {
    type Operands = (E,);
    type Results = (E::Cx, E::Cx);
    fn op(&self) -> &'static str {
        self.op
    }
    fn run<D: Device>(&self, (x,): On<'_, (E,), D>) -> Result<On<'static, (E::Cx, E::Cx), D>> {
        let General { op, vectors, .. } = *self;
        let (batch, a, n) = x.as_squares(op)?;
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
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0, 0b11];
    /// `V^-H (g_L + P / conj(E)) V^H` with `P = V^H g_V - V^H V Re(diag(V^H g_V))` and `E_ij = L_j - L_i` (`linalg_eig_backward`)
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let (values, v) = (read(&back.y.0)?, read(&back.y.1)?);
        let (of_values, of_vectors) = &back.g;
        let adjoint = v.adjoint()?;
        let mut inner = of_values.as_ref().map(|g| g.as_diagonals()).transpose()?;
        if let Some(g) = of_vectors {
            let p = adjoint.product(g)?;
            let own = p.main_diagonals()?.cast::<E::Re>()?.cast::<E::Cx>()?;
            let p = p.minus(&adjoint.product(&v.times(&own.as_rows_of_one()?)?)?)?;
            let p = p.over(&apart(values)?.conjugated()?)?;
            inner = Some(match inner {
                Some(inner) => inner.plus(&p.minus(&p.main_diagonals()?.as_diagonals()?)?)?,
                None => p,
            });
        }
        let Some(inner) = inner else { return Ok((None,)) };
        let product = inner.product(&adjoint)?;
        Ok((Some(adjoint.solve_ex(&product, true, false, false)?.0.cast::<E>()?),))
    }
}
