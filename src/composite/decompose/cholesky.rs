//! Cholesky factors, and solvers by them.

use super::inverse::singular;
use super::matrices::{Batch, common, cost};
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
        let (batch, a, n) = self.as_squares(op)?;
        let (factor, info) =
            batch.each(cost([n, n, n / 3]), [n, n], |at, to| factor::cholesky(a.at(at), n, upper, to))?;
        if check {
            batch.check(&info, |order| format!(
                "The factorization could not be completed because the input is not positive-definite (the leading minor of order {order} is not positive-definite)."
            ))?;
        }
        Ok((batch.matrices(factor, [n, n])?, batch.numbers(info)?))
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
        let (batch, factor, n) = self.as_squares(op)?;
        let (inverse, info) =
            batch.each(cost([n, n, n]), [n, n], |at, to| Ok(factor::cholesky_inverse(factor.at(at), n, upper, to)))?;
        batch.check(&info, singular)?;
        batch.matrices(inverse, [n, n])
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
        let op = "cholesky_solve";
        let ((lead, n), (b_lead, [rows, columns])) = (factor.split_squares(op)?, self.split_matrices(op)?);
        if rows != n {
            return invalid(
                op,
                format!(
                    "Incompatible matrix sizes for cholesky_solve: each A matrix is {n} by {n} but each b matrix is {rows} by {columns}"
                ),
            );
        }
        let lead = common(op, lead, b_lead)?;
        let batch = Batch::beside(op, self, &lead);
        let (factor, b) = (factor.matrices_of(&lead)?, self.matrices_of(&lead)?);
        let (x, _) = batch.each(cost([n, n, columns]), [n, columns], |at, x| {
            x.copy_from_slice(b.at(at));
            factor::cholesky_solve(factor.at(at), n, upper, x, columns);
            Ok(0)
        })?;
        batch.matrices(x, [n, columns])
    }
}
