//! Cholesky factors, and solvers by them.

use super::inverse::singular;
use super::matrices::{Batch, common, cost};
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Erased, Owned};
use crate::cpu::factor::{self, field::Field};
use crate::device::{Device, Receives};
use crate::dtype::scalar::Dimensioned;
use crate::error::{Result, invalid};
use crate::ops::admit::SameDtypeFor;
use crate::ops::decompose as ops;
use crate::shape::{Matrices, Shape, Solutions, SquareFor};
use crate::tensor::{Tensor, TensorOperand};
use castiron_macros::composites;
use core::marker::PhantomData;

#[composites]
impl<E: Field, D: Device> Erased<'_, E, D> {
    /// The factor `L` of `A = L L^H`, or with `upper` the `U` of `A = U^H U`, of Hermitian positive-definite matrices. One
    /// triangle is read.
    ///
    /// # Errors
    /// If a matrix is not positive-definite, or matrices are not square.
    #[op(linalg.cholesky(A, upper = false), dtypes = field)]
    #[op(cholesky(input, upper = false), dtypes = field)]
    #[typed((&self, upper: bool) -> Self
        where
            E: Field,
            S: Matrices,
            S::Rows: SquareFor<S::Columns, ops::cholesky>)]
    #[example(let x = tensor![[4.0, 2.0], [2.0, 5.0]]; x.cholesky(false), x.cholesky(false), tensor![[2.0, 0.0], [1.0, 2.0]])]
    pub(crate) fn cholesky(&self, upper: bool) -> Result<Owned<E, D>> {
        let op = "linalg.cholesky";
        Ok(self.factored_by_cholesky(op, upper, true)?.0)
    }

    /// [`cholesky`](Self::cholesky), and for each matrix the order of the first minor that is not positive-definite, or 0.
    ///
    /// # Errors
    /// If matrices are not square.
    #[op(linalg.cholesky_ex(A, upper = false, check_errors = false), dtypes = field)]
    #[typed(<Lead: Shape>(&self, upper: bool) -> (Self, Tensor<i32, Lead, D>)
        where
            E: Field,
            S: Matrices<Lead = Lead>,
            S::Rows: SquareFor<S::Columns, ops::cholesky_ex>;
        check_errors = false)]
    #[example(let x = tensor![[[-4.0]]]; x.cholesky_ex(false), x.cholesky_ex(false, false), (_, tensor![1; i32]))]
    pub(crate) fn cholesky_ex(&self, upper: bool, check_errors: bool) -> Result<(Owned<E, D>, Owned<i32, D>)> {
        let op = "linalg.cholesky_ex";
        self.factored_by_cholesky(op, upper, check_errors)
    }

    fn factored_by_cholesky(&self, op: &'static str, upper: bool, check: bool) -> Result<(Owned<E, D>, Owned<i32, D>)> {
        D::primitive(&Factoring::<E> { op, upper, check, dtype: PhantomData }, (Erased::of(self.view()),))
    }

    /// Inverses of the matrices whose Cholesky factors these are.
    ///
    /// # Errors
    /// If a factor has a zero on its diagonal, or matrices are not square.
    #[op(cholesky_inverse(L, upper = false), dtypes = field)]
    #[typed((&self, upper: bool) -> Self
        where
            E: Field,
            S: Matrices,
            S::Rows: SquareFor<S::Columns, ops::cholesky_inverse>)]
    #[example(let x = tensor![[2.0]]; x.cholesky_inverse(false), x.cholesky_inverse(false), tensor![[0.25]])]
    pub(crate) fn cholesky_inverse(&self, upper: bool) -> Result<Owned<E, D>> {
        let op = "cholesky_inverse";
        self.split_squares(op)?;
        Ok(D::primitive(&InverseByFactor::<E> { upper, dtype: PhantomData }, (Erased::of(self.view()),))?.0)
    }

    /// Solutions of `A X = self`, where `A` is given by its Cholesky factor; leading axes broadcast.
    ///
    /// # Errors
    /// If sizes do not match.
    #[op(cholesky_solve(B, L, upper = false), dtypes = field)]
    #[typed(<R: TensorOperand, T: Shape>(&self, factor: R, upper: bool) -> Tensor<E, T, D>
        where
            E: Field + SameDtypeFor<R::Elem, ops::cholesky_solve>,
            S: Matrices,
            R::Shape: Solutions<S, ops::cholesky_solve, Output = T>,
            D: Receives<R::Place, Dimensioned>)]
    #[example(let b = tensor![[8.0]]; let factor = tensor![[2.0]]; b.cholesky_solve(&factor, false), b.cholesky_solve(&factor, false), tensor![[2.0]])]
    pub(crate) fn cholesky_solve(&self, factor: &Erased<'_, E, D>, upper: bool) -> Result<Owned<E, D>> {
        let operands = (Erased::of(self.view()), Erased::of(factor.view()));
        Ok(D::primitive(&SolvingByFactor::<E> { upper, dtype: PhantomData }, operands)?.0)
    }
}

/// Factors `L` with `A = L L^H`, or `U` with `A = U^H U`, and `info`.
#[derive(Clone)]
struct Factoring<E> {
    op: &'static str,
    upper: bool,
    check: bool,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Field> Primitive for Factoring<E> {
    type Operands = (E,);
    type Results = (E, i32);
    fn op(&self) -> &'static str {
        self.op
    }
    fn run<D: Device>(&self, (a,): On<'_, (E,), D>) -> Result<On<'static, (E, i32), D>> {
        let Factoring { op, upper, check, .. } = *self;
        let (batch, a, n) = a.as_squares(op)?;
        let (factor, info) =
            batch.each(cost([n, n, n / 3]), [n, n], |at, to| factor::cholesky(a.at(at), n, upper, to))?;
        if check {
            batch.check(&info, |order| format!(
                "The factorization could not be completed because the input is not positive-definite (the leading minor of order {order} is not positive-definite)."
            ))?;
        }
        Ok((batch.matrices(factor, [n, n])?, batch.numbers(info)?))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0, 1];
    /// `L^-H P(L^H g) L^-1`, where `P` takes the lower triangle and makes it Hermitian (`cholesky_backward`).
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let (Some(g), _) = back.g else { return Ok((None,)) };
        let y = read(&back.y.0)?;
        let adjoint = y.adjoint()?;
        let (l, adjoint, g) = if self.upper { (&adjoint, y, g.adjoint()?) } else { (y, &adjoint, g.share()) };
        let phi = adjoint.product(&g)?.tril(0)?;
        let phi = phi.plus(&phi.tril(-1)?.adjoint()?)?.scaled_by(0.5)?;
        let phi = adjoint.solve_triangular(&phi, true, true, false)?;
        Ok((Some(l.solve_triangular(&phi, false, false, false)?),))
    }
}

/// The inverses of matrices that are given by their factors.
#[derive(Clone)]
struct InverseByFactor<E> {
    upper: bool,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Field> Primitive for InverseByFactor<E> {
    type Operands = (E,);
    type Results = (E,);
    fn op(&self) -> &'static str {
        "cholesky_inverse"
    }
    fn run<D: Device>(&self, (factor,): On<'_, (E,), D>) -> Result<On<'static, (E,), D>> {
        let (op, upper, own) = (self.op(), self.upper, factor);
        let (batch, factor, n) = own.as_squares(op)?;
        let (inverse, info) =
            batch.each(cost([n, n, n]), [n, n], |at, to| Ok(factor::cholesky_inverse(factor.at(at), n, upper, to)))?;
        batch.check(&info, singular)?;
        Ok((batch.matrices(inverse, [n, n])?,))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [1, 1];
    /// `-Y (g + g^H) Y L` (`cholesky_inverse_backward`)
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let (Some(g),) = back.g else { return Ok((None,)) };
        let (factor, y) = (read(&back.x.0)?, read(&back.y.0)?);
        let common = y.product(&g.with_adjoint(false)?)?.product(y)?;
        let product = if self.upper { factor.product(&common)? } else { common.product(factor)? };
        Ok((Some(product.negated()?),))
    }
}

/// Solutions of systems whose matrices are given by their Cholesky factors.
#[derive(Clone)]
struct SolvingByFactor<E> {
    upper: bool,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Field> Primitive for SolvingByFactor<E> {
    type Operands = (E, E);
    type Results = (E,);
    fn op(&self) -> &'static str {
        "cholesky_solve"
    }
    fn run<D: Device>(&self, (b, factor): On<'_, (E, E), D>) -> Result<On<'static, (E,), D>> {
        let (op, upper, right) = (self.op(), self.upper, b);
        let ((lead, n), (b_lead, [rows, columns])) = (factor.split_squares(op)?, right.split_matrices(op)?);
        if rows != n {
            return invalid(
                op,
                format!(
                    "Incompatible matrix sizes for cholesky_solve: each A matrix is {n} by {n} but each b matrix is {rows} by {columns}"
                ),
            );
        }
        let lead = common(op, lead, b_lead)?;
        let batch = Batch::beside(op, &right, &lead);
        let (factor, b) = (factor.matrices_of(op, &lead)?, right.matrices_of(op, &lead)?);
        let (x, _) = batch.each(cost([n, n, columns]), [n, columns], |at, x| {
            x.copy_from_slice(b.at(at));
            factor::cholesky_solve(factor.at(at), n, upper, x, columns);
            Ok(0)
        })?;
        Ok((batch.matrices(x, [n, columns])?,))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0b10, 1];
    /// Source: `cholesky_solve_backward`
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E, E), D>> {
        let (Some(g),) = back.g else { return Ok((None, None)) };
        let (factor, x) = (read(&back.x.1)?, read(&back.y.0)?);
        let b = g.cholesky_solve(factor, self.upper)?;
        let mut of_factor = None;
        if back.wants[1] {
            let common = b.times_adjoint(x)?.with_adjoint(false)?;
            let product = if self.upper { factor.product(&common)? } else { common.product(factor)? };
            of_factor = Some(product.negated()?.summed_to(&back.sizes[1])?);
        }
        Ok((Some(b.summed_to(&back.sizes[0])?), of_factor))
    }
}
