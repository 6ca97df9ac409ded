//! Least squares.

use super::matrices::{Batch, area, common, cost};
#[cfg(feature = "grad")]
use super::norm::inverse_pulled;
use super::norm::{epsilon, pseudoinverse};
use super::solve::{expect_matrices, holds_vectors};
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Erased, Owned};
use crate::cpu::factor::batch::Lens;
use crate::cpu::factor::{self, Scaled, field::Field};
use crate::device::{Device, Receives};
use crate::dtype::scalar::Dimensioned;
use crate::error::{Result, filled, invalid, listed};
use crate::ops::admit::SameDtypeFor;
use crate::ops::decompose as ops;
use crate::shape::{Broadcast, Factor, Matrices, Shape, Solutions};
use crate::tensor::{Tensor, TensorOperand};
use castiron_macros::composites;
use core::marker::PhantomData;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// The algorithm for least squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "any"), allow(dead_code))]
pub(crate) enum Driver {
    Gels,
    Gelsy,
    Gelsd,
    Gelss,
}

/// Solution, residuals, rank and singular values.
type Found<E, Re, D> = (Owned<E, D>, Owned<Re, D>, Owned<i64, D>, Owned<Re, D>);

#[composites]
impl<E: Field, D: Device> Erased<'_, E, D> {
    /// The `X` that minimises `|A X - B|`, the shortest if there are several: `(…, M, N)` and `(…, M, K)` give `(…, N, K)`, and a vector
    /// `(M)` gives `(…, N)`; and the ranks of the matrices. Singular values up to `rcond` times the largest count as 0; without it up to
    /// the machine epsilon times the larger size.
    ///
    /// # Errors
    /// If an element is not finite, or sizes do not match.
    #[op(linalg.lstsq, dtypes = field)]
    #[any(by_hand)]
    #[typed(<R: TensorOperand, T: Shape, B: Shape>(&self, b: R, rcond: Option<f64>) -> (Tensor<E, T, D>, Tensor<i64, B, D>)
        where
            E: Field + SameDtypeFor<R::Elem, ops::lstsq>,
            S: Matrices<Lead: Broadcast<<R::Shape as Factor>::Batch, Output = B>>,
            S::With<S::Columns, S::Rows>: Solutions<R::Shape, ops::lstsq, Output = T>,
            R::Shape: Factor,
            D: Receives<R::Place, Dimensioned>)]
    #[example(let a = tensor![[[1.0], [1.0]]]; let b = tensor![[[1.0], [3.0]]]; a.lstsq(&b, None), _, (~ tensor![[[2.0]]], tensor![1]))]
    #[doc(alias = "least_squares")]
    pub(crate) fn lstsq(&self, b: &Erased<'_, E, D>, rcond: Option<f64>) -> Result<(Owned<E, D>, Owned<i64, D>)> {
        let op = "linalg.lstsq";
        expect_matrices(op, self.sizes(), b.sizes())?;
        let (x, _, rank, _) = self.least_squares(b, rcond, Driver::Gelsy)?;
        Ok((x, rank))
    }

    /// Results that the driver does not compute are empty.
    pub(crate) fn least_squares(
        &self,
        b: &Erased<'_, E, D>,
        rcond: Option<f64>,
        driver: Driver,
    ) -> Result<Found<E, E::Re, D>> {
        let op = "linalg.lstsq";
        let (lead, [m, _]) = self.split_matrices(op)?;
        let is_vector = holds_vectors(self.sizes(), b.sizes());
        if b.rank() == 0 {
            return invalid(
                op,
                "input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1".to_owned(),
            );
        }
        let (b_lead, rest) = b.sizes().split_at(b.rank() - if is_vector { 1 } else { 2 });
        let rows = rest[0];
        if rows != m {
            return invalid(op, format!("input.size(-2) should match other.size(-2): {m} and {rows}"));
        }
        common(op, lead, b_lead)?;
        let operands = (Erased::of(self.view()), Erased::of(b.view()));
        D::primitive(&LeastSquares::<E> { rcond, driver, is_vector, dtype: PhantomData }, operands)
    }
}

/// Solutions, sums of squares of what is left of right sides, ranks, and singular values.
#[derive(Clone)]
struct LeastSquares<E> {
    rcond: Option<f64>,
    driver: Driver,
    is_vector: bool,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Field> Primitive for LeastSquares<E> {
    type Operands = (E, E);
    type Results = (E, E::Re, i64, E::Re);
    fn op(&self) -> &'static str {
        "linalg.lstsq"
    }
    fn run<D: Device>(&self, (a, right): On<'_, (E, E), D>) -> Result<On<'static, (E, E::Re, i64, E::Re), D>> {
        let LeastSquares { rcond, driver, is_vector, .. } = *self;
        let op = self.op();
        let (lead, matrix @ [m, n]) = a.split_matrices(op)?;
        let (b_lead, rest) = right.sizes().split_at(right.rank() - if is_vector { 1 } else { 2 });
        let columns = rest.get(1).copied().unwrap_or(1);
        let lead = common(op, lead, b_lead)?;
        let k = m.min(n);
        let (batch, of) = (Batch::beside(op, &a, &lead), a.matrices_of(op, &lead)?);
        let b = if is_vector { right.vectors_of(op, &lead)? } else { right.matrices_of(op, &lead)? };
        let lens = Lens { own: [area(n, columns), 0, 0], real: [columns, k], ints: 1, ..Lens::default() };
        let done = batch.run(cost([m, n, k.saturating_mul(12)]), lens, |at, slots| {
            let ([x, ..], [residuals, values]) = (slots.own, slots.real);
            // Both are scaled, so that squares of residuals and thresholds do not depend on the magnitude of the elements.
            let (of, b) = (Scaled::of(of.at(at))?, Scaled::of(b.at(at))?);
            let mut inverse = filled(E::zero_impl(), n * m)?;
            let bound = |most: f64| match (driver, rcond) {
                (Driver::Gels, _) => 0.0,
                (_, Some(rcond)) => rcond * most,
                _ => epsilon::<E>() * m.max(n) as f64 * most,
            };
            let (rank, s) = match pseudoinverse(&of, matrix, false, bound, &mut inverse)? {
                Ok(found) => found,
                Err(info) => return Ok(info),
            };
            values.copy_from_slice(&s);
            slots.ints[0] = rank as i32;
            let own = MatRef::from_column_major_slice(&of.elements, m, n);
            let rhs = MatRef::from_column_major_slice(&b.elements, m, columns);
            let inverse = MatRef::from_column_major_slice(&inverse, n, m);
            matmul(
                MatMut::from_column_major_slice_mut(&mut *x, n, columns),
                Accum::Replace,
                inverse,
                rhs,
                E::one_impl(),
                Par::Seq,
            );
            // A second step for the residual, to correct rounding by the pseudoinverse of an ill-conditioned matrix.
            let mut left = filled(E::zero_impl(), m * columns)?;
            for again in [true, false] {
                for (j, column) in left.chunks_exact_mut(m.max(1)).enumerate() {
                    (0..m).for_each(|i| column[i] = rhs[(i, j)]);
                }
                let x_now = MatRef::from_column_major_slice(&*x, n, columns);
                matmul(
                    MatMut::from_column_major_slice_mut(&mut left, m, columns),
                    Accum::Add,
                    own,
                    x_now,
                    -E::one_impl(),
                    Par::Seq,
                );
                if again {
                    let left = MatRef::from_column_major_slice(&left, m, columns);
                    matmul(
                        MatMut::from_column_major_slice_mut(&mut *x, n, columns),
                        Accum::Add,
                        inverse,
                        left,
                        E::one_impl(),
                        Par::Seq,
                    );
                }
            }
            for (residual, column) in residuals.iter_mut().zip(left.chunks_exact(m.max(1))) {
                *residual = column.iter().fold(E::real(0.0), |sum, x| sum + x.modulus() * x.modulus());
            }
            factor::scale(x, b.exponent - of.exponent);
            factor::scale(residuals, 2 * b.exponent);
            factor::scale(values, of.exponent);
            Ok(0)
        })?;
        batch.check(&done.info, |info| factor::not_found(info, "the matrix contains NaN or infinite values"))?;
        let ([x, ..], [residuals, values], ranks) = (done.own, done.real, done.ints);
        let full = ranks.iter().all(|&rank| rank as usize == n);
        let solution = if is_vector { batch.vectors(x, n)? } else { batch.matrices(x, [n, columns])? };
        let residuals = match m > n && full && driver != Driver::Gelsy {
            true => batch.vectors(residuals, columns)?,
            false => batch.nothing()?,
        };
        let rank = match driver {
            Driver::Gels => batch.nothing()?,
            _ => batch.numbers(listed(ranks.into_iter().map(i64::from))?)?,
        };
        let values = match driver {
            Driver::Gelsd | Driver::Gelss => batch.vectors(values, k)?,
            Driver::Gels | Driver::Gelsy => batch.nothing()?,
        };
        Ok((solution, residuals, rank, values))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0b11, 0b01];
    /// That of the product of `B` with the pseudoinverse of `A`, and of the squares of `A X - B` (`linalg_lstsq_backward`).
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E, E), D>> {
        let (a, b, x) = (read(&back.x.0)?, read(&back.x.1)?, read(&back.y.0)?);
        let (of_x, of_squares, _, of_values) = &back.g;
        if of_values.is_some() {
            return invalid(
                self.op(),
                "the singular values have no derivative here: take them by `svdvals`".to_owned(),
            );
        }
        let column = |of: &Erased<'_, E, D>| -> Result<Owned<E, D>> {
            Ok(if self.is_vector { of.as_columns()?.share() } else { of.share() })
        };
        let (b, x) = (column(b)?, column(x)?);
        let (mut of_a, mut of_b) = (None, None);
        if let Some(g) = of_x {
            let g = column(g)?;
            let inverse = a.pinv(super::norm::Tolerance::NONE, false)?;
            if back.wants[0] {
                of_a = Some(inverse_pulled(a, &inverse, &g.times_adjoint(&b)?)?.summed_to(&back.sizes[0])?);
            }
            of_b = Some(inverse.adjoint_times(&g)?);
        }
        // (Where there are no residuals, there is none of a gradient either.)
        if let Some(g) = of_squares.as_ref().filter(|g| g.numel() > 0) {
            let left = a.product(&x)?.minus(&b)?.times(&g.cast::<E>()?.scaled_by(2.0)?.as_rows_of_one()?)?;
            let more = left.times_adjoint(&x)?.summed_to(&back.sizes[0])?;
            of_a = Some(match of_a {
                Some(of_a) => of_a.plus(&more)?,
                None => more,
            });
            of_b = Some(match of_b {
                Some(of_b) => of_b.minus(&left)?,
                None => left.negated()?,
            });
        }
        let of_b = of_b.map(|of_b| -> Result<_> {
            let of_b = if self.is_vector { of_b.without_axis(of_b.rank() - 1)?.share() } else { of_b };
            of_b.summed_to(&back.sizes[1])
        });
        Ok((of_a, of_b.transpose()?))
    }
}
