//! Determinants, and their logarithms.

use super::matrices::{Batch, cost};
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
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
use core::marker::PhantomData;
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
        self.split_squares(op)?;
        Ok(D::primitive(&Determinant::<E>(PhantomData), (Erased::of(self.view()),))?.0)
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
        self.split_squares(op)?;
        D::primitive(&SignAndLogarithm::<E>(PhantomData), (Erased::of(self.view()),))
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

/// The determinants of matrices.
#[derive(Clone)]
struct Determinant<E>(PhantomData<fn() -> E>);
impl<E: Field> Primitive for Determinant<E> {
    type Operands = (E,);
    type Results = (E,);
    fn op(&self) -> &'static str {
        "linalg.det"
    }
    fn run<D: Device>(&self, (x,): On<'_, (E,), D>) -> Result<On<'static, (E,), D>> {
        let op = "linalg.det";
        let lens = Lens { own: [1, 0, 0], ..Lens::default() };
        let done = x.diagonals(op, lens, |diagonal, sign, slots| {
            slots.own[0][0] = diagonal.fold(sign, |product, x| product * x);
        })?;
        let ([det, ..], (lead, _)) = (done.own, x.split_squares(op)?);
        Ok((Batch::beside(op, &x, lead).numbers(det)?,))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [1, 0];
    /// The cofactors: with `A = U S V^H` they are `conj(|U| |V^H|) U C V^H`, where each element of `C` is the product of the other singular
    /// values. Nothing is divided, so that matrices may be singular.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let (Some(g),) = back.g else { return Ok((None,)) };
        let a = read(&back.x.0)?;
        if a.is_empty() {
            return Ok((None,));
        }
        let (u, s, vh) = a.svd(false)?;
        let n = s.sizes()[s.rank() - 1];
        let eye = s.identity_beside(n)?;
        let others = eye.scaled_by(0.0)?.plus(&s.as_rows_of_one()?)?;
        let others = others.minus(&others.times(&eye)?)?.plus(&eye)?;
        let others = others.reduce(crate::ops::reduce::Prod, 1 << s.rank(), false)?.retyped::<E::Re>().cast::<E>()?;
        let size = u.det()?.times(&vh.det()?)?.conjugated()?.times(&g)?;
        let factors = others.times(&size.as_columns()?)?;
        Ok((Some(u.times(&factors.as_rows_of_one()?)?.product(&vh)?),))
    }
}

/// The signs of determinants, and the logarithms of their absolute values.
#[derive(Clone)]
struct SignAndLogarithm<E>(PhantomData<fn() -> E>);
impl<E: Field> Primitive for SignAndLogarithm<E> {
    type Operands = (E,);
    type Results = (E, E::Re);
    fn op(&self) -> &'static str {
        "linalg.slogdet"
    }
    fn run<D: Device>(&self, (x,): On<'_, (E,), D>) -> Result<On<'static, (E, E::Re), D>> {
        let op = "linalg.slogdet";
        let lens = Lens { own: [1, 0, 0], real: [1, 0], ..Lens::default() };
        let done = x.diagonals(op, lens, |diagonal, sign, slots| {
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
        let ([sign, ..], [log, _], (lead, _)) = (done.own, done.real, x.split_squares(op)?);
        let batch = Batch::beside(op, &x, lead);
        Ok((batch.numbers(sign)?, batch.numbers(log)?))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [1, 1];
    /// `(g_log + i Im(g_sign conj(sign))) A^-H`
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let (of_sign, of_log) = back.g;
        let (a, sign) = (read(&back.x.0)?, read(&back.y.0)?);
        let mut factor = of_log.map(|g| g.cast::<E>()).transpose()?;
        if let (true, Some(g)) = (E::DTYPE.is_complex(), of_sign) {
            // `(z - conj(z)) / 2` is the imaginary part.
            let z = g.times(&sign.conjugated()?)?;
            let turn = z.minus(&z.conjugated()?)?.scaled_by(0.5)?;
            factor = Some(match factor {
                Some(factor) => factor.plus(&turn)?,
                None => turn,
            });
        }
        let Some(factor) = factor else { return Ok((None,)) };
        let inverse = a.inv_ex(false)?.0.adjoint()?;
        Ok((Some(inverse.times(&factor.as_columns()?.as_columns()?)?),))
    }
}
