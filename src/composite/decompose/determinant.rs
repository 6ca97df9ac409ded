//! Determinants, and their logarithms.

use super::matrices::{Batch, cost};
use crate::composite::{Erased, Owned};
use crate::cpu::factor::batch::{Done, Lens, Slots};
use crate::cpu::factor::{self, field::Field};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Result, filled};
use crate::ops::decompose as ops;
use crate::shape::{Matrices, Shape, SquareFor};
use crate::tensor::Tensor;
use castiron_macros::composites;
use num_traits::Float;

#[composites]
impl<E: Field, D: Device> Erased<'_, E, D> {
    /// Determinants of square matrices: `(…, N, N)` gives `(…)`.
    ///
    /// # Errors
    /// If matrices are not square.
    #[op(linalg.det(A), dtypes = field, aliases("det"))]
    #[typed(<Lead: Shape>(&self) -> Tensor<E, Lead, D>
        where
            E: Field,
            S: Matrices<Lead = Lead>,
            S::Rows: SquareFor<S::Columns, ops::det>)]
    #[example(let x = tensor![[2.0, 1.0], [0.0, 4.0]]; x.det(), x.det(), Tensor::scalar(8.0))]
    pub(crate) fn det(&self) -> Result<Owned<E, D>> {
        let op = "linalg.det";
        let lens = Lens { own: [1, 0, 0], ..Lens::default() };
        let done = self.diagonals(op, lens, |diagonal, sign, slots| {
            slots.own[0][0] = diagonal.fold(sign, |product, x| product * x);
        })?;
        let ([det, ..], (lead, _)) = (done.own, self.split_squares(op)?);
        Batch::beside(op, self, lead).numbers(det)
    }

    /// Signs of determinants, and the logarithms of their absolute values.
    ///
    /// # Errors
    /// If matrices are not square.
    #[op(linalg.slogdet(A), dtypes = field, aliases("slogdet"))]
    #[typed(<Re: Element, Lead: Shape>(&self) -> (Tensor<E, Lead, D>, Tensor<Re, Lead, D>)
        where
            E: Field<Re = Re>,
            S: Matrices<Lead = Lead>,
            S::Rows: SquareFor<S::Columns, ops::slogdet>)]
    #[example(let x = tensor![[-1.0, 0.0], [0.0, 1.0]]; x.slogdet(), x.slogdet(), (Tensor::scalar(-1.0), Tensor::scalar(0.0)))]
    pub(crate) fn slogdet(&self) -> Result<(Owned<E, D>, Owned<E::Re, D>)> {
        let op = "linalg.slogdet";
        let lens = Lens { own: [1, 0, 0], real: [1, 0], ..Lens::default() };
        let done = self.diagonals(op, lens, |diagonal, sign, slots| {
            let (mut sign, mut sum) = (sign, E::real(0.0));
            for x in diagonal {
                let size = x.modulus();
                sum += Float::ln(size);
                sign = if size == E::real(0.0) || (E::IS_REAL && Float::is_nan(size)) {
                    // As in PyTorch, the sign of a real NaN is 0.
                    E::zero_impl()
                } else if E::IS_REAL {
                    if x.real_part() < E::real(0.0) { -sign } else { sign }
                } else {
                    sign * x.over_real(size)
                };
            }
            (slots.own[0][0], slots.real[0][0]) = (sign, sum);
        })?;
        let ([sign, ..], [log, _], (lead, _)) = (done.own, done.real, self.split_squares(op)?);
        let batch = Batch::beside(op, self, lead);
        Ok((batch.numbers(sign)?, batch.numbers(log)?))
    }

    /// Calls `put` with the diagonal of each `U`, the sign of the row permutation, and the result's elements.
    fn diagonals(
        &self,
        op: &'static str,
        lens: Lens,
        put: impl Fn(&mut dyn Iterator<Item = E>, E, Slots<'_, E>) + Sync,
    ) -> Result<Done<E>> {
        let (batch, a, n) = self.as_squares(op)?;
        batch.run(cost([n, n, n / 3]), lens, |at, slots| {
            let (mut lu, mut pivots) = (factor::copied(a.at(at))?, filled(0, n)?);
            factor::lu(&mut lu, n, n, &mut pivots);
            let swaps = pivots.iter().enumerate().filter(|&(at, &pivot)| pivot != at as i32 + 1).count();
            let sign = if swaps % 2 == 0 { E::one_impl() } else { -E::one_impl() };
            put(&mut (0..n).map(|i| lu[i * n + i]), sign, slots);
            Ok(0)
        })
    }
}
