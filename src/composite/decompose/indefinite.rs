//! Symmetric indefinite factors, `ldl_factor`, and solvers by them.

use super::lu::Factored;
use super::matrices::{Batch, area, common, cost};
use crate::composite::{Erased, Owned};
use crate::cpu::factor::batch::Lens;
use crate::cpu::factor::{self, field::Field};
use crate::device::{Device, Receives};
use crate::dtype::scalar::Dimensioned;
use crate::error::{Result, invalid};
use crate::ops::admit::SameDtypeFor;
use crate::ops::decompose as ops;
use crate::shape::{Dim, Matrices, PivotsOf, Shape, Solutions, SquareFor};
use crate::tensor::{Tensor, TensorOperand};
use castiron_macros::composites;

#[composites]
impl<E: Field, D: Device> Erased<'_, E, D> {
    /// Symmetric (or `hermitian`) indefinite factors in one matrix, and the pivots, in LAPACK's format.
    ///
    /// # Errors
    /// If a matrix is singular, or matrices are not square.
    #[op(linalg.ldl_factor(A, hermitian = false), dtypes = field)]
    #[typed(<N: Dim>(&self, hermitian: bool) -> (Self, Tensor<i32, S::WithVectors<N>, D>)
        where
            E: Field,
            S: Matrices<Rows: SquareFor<S::Columns, ops::ldl_factor, Side = N>>)]
    #[example(let x = tensor![[2.0, 1.0], [1.0, 3.0]]; x.ldl_factor(false), x.ldl_factor(false), (tensor![[2.0, 0.0], [0.5, 2.5]], tensor![1, 2; i32]))]
    pub(crate) fn ldl_factor(&self, hermitian: bool) -> Result<(Owned<E, D>, Owned<i32, D>)> {
        let op = "linalg.ldl_factor";
        let (ld, pivots, _) = self.ldl(op, hermitian, true)?;
        Ok((ld, pivots))
    }

    pub(crate) fn ldl(&self, op: &'static str, hermitian: bool, check: bool) -> Result<Factored<E, D>> {
        let hermitian = hermitian && E::DTYPE.is_complex();
        let (batch, a, n) = self.as_squares(op)?;
        let lens = Lens { own: [area(n, n), 0, 0], ints: n, ..Lens::default() };
        let done = batch.run(cost([n, n, n]), lens, |at, slots| {
            let [ld, ..] = slots.own;
            ld.copy_from_slice(a.at(at));
            for j in 0..n {
                ld[j * n..j * n + j].fill(E::zero_impl());
            }
            Ok(factor::ldl(ld, n, hermitian, slots.ints))
        })?;
        if check {
            batch.check(&done.info, |at| {
                format!("D[{at},{at}] is zero and using it on ldl_solve would result in a division by zero.")
            })?;
        }
        let [ld, ..] = done.own;
        Ok((batch.matrices(ld, [n, n])?, batch.vectors(done.ints, n)?, batch.numbers(done.info)?))
    }

    /// Solutions of `A X = B` by the factors of [`ldl_factor`](Self::ldl_factor).
    ///
    /// # Errors
    /// If sizes do not match, or pivots are out of range.
    #[op(linalg.ldl_solve(LD, pivots, B, hermitian = false), dtypes = field)]
    #[typed(<N: Dim, P: TensorOperand, R: TensorOperand, T: Shape>(&self, pivots: P, b: R, hermitian: bool) -> Tensor<E, T, D>
        where
            E: Field + SameDtypeFor<R::Elem, ops::ldl_solve>,
            i32: SameDtypeFor<P::Elem, ops::ldl_solve>,
            S: Matrices<Rows: SquareFor<S::Columns, ops::ldl_solve, Side = N>>
                + Solutions<R::Shape, ops::ldl_solve, Output = T>,
            P::Shape: PivotsOf<S, N, ops::ldl_solve>,
            R::Shape: Matrices,
            D: Receives<P::Place, Dimensioned> + Receives<R::Place, Dimensioned>)]
    #[example(let ld = tensor![[4.0]]; let pivots = tensor![1; i32]; let b = tensor![[2.0]]; ld.ldl_solve(&pivots, &b, false), ld.ldl_solve(&pivots, &b, false), tensor![[0.5]])]
    pub(crate) fn ldl_solve(
        &self,
        pivots: &Erased<'_, i32, D>,
        b: &Erased<'_, E, D>,
        hermitian: bool,
    ) -> Result<Owned<E, D>> {
        let op = "linalg.ldl_solve";
        let hermitian = hermitian && E::DTYPE.is_complex();
        let ((lead, n), (b_lead, [rows, columns])) = (self.split_squares(op)?, b.split_matrices(op)?);
        if pivots.sizes() != [lead, &[n]].concat() || rows != n {
            let (ld, pivots, b) = (self.sizes(), pivots.sizes(), b.sizes());
            return invalid(op, format!("shapes {ld:?}, {pivots:?} and {b:?} do not go together"));
        }
        let lead = common(op, lead, b_lead)?;
        let batch = Batch::beside(op, self, &lead);
        let (ld, pivots, b) = (self.matrices_of(op, &lead)?, pivots.vectors_of(op, &lead)?, b.matrices_of(op, &lead)?);
        let (x, info) = batch.each(cost([n, n, columns]), [rows, columns], |at, x| {
            x.copy_from_slice(b.at(at));
            if pivots.at(at).iter().any(|&pivot| !(1..=n as i64).contains(&i64::from(pivot).abs())) {
                return Ok(1);
            }
            factor::ldl_solve(ld.at(at), n, hermitian, pivots.at(at), x);
            Ok(0)
        })?;
        batch.check(&info, |_| format!("pivots are from 1 to {n}, or the negatives of such"))?;
        batch.matrices(x, [rows, columns])
    }
}
