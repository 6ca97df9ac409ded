//! Sums with a product: `addmm`, `addmv`, `addbmm`, `baddbmm`.

use super::product::{Summand, product};
use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{Dtype, Element, Scalar, ScalarValue};
use crate::error::{Error, Result};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::admit::NumericFor;
use crate::shape::{Dim, ExpandTo, InnerDim, SameBatch};
use crate::tensor::{SameDevice, SameDtype, Tensor, checked_numel};
use castiron_macros::composites;

/// A factor in the computing type of `E`.
pub(crate) fn factor<E: Dtype>(op: &'static str, value: ScalarValue) -> Result<E::Compute> {
    let refused = Error::ScalarOutOfRange { op, value, dtype: E::DTYPE };
    if !E::DTYPE.is_complex() && matches!(value, ScalarValue::Complex(value) if value.im != 0.0) {
        return Err(refused);
    }
    value.to_dtype::<E::Compute>().ok_or(refused)
}

#[composites]
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// `beta * self + alpha * (mat1 @ mat2)`, of matrices.
    ///
    /// `self` is expanded to the shape of the result; a `beta` of 0 ignores it, even NaN. All have one dtype, which is the result's. For
    /// integers factors are truncated. Both are 1 in PyTorch if not given.
    ///
    /// # Errors
    /// If sizes do not match, or a factor does not fit.
    #[op(addmm(input, mat1, mat2, beta = 1, alpha = 1), dtypes = numeric)]
    #[in_place("tensor![[1, 1]]" "&AnyTensor::from(tensor![[1, 2]]), &AnyTensor::from(tensor![[3, 0], [0, 4]]), 1, 1" = "[[4, 9]]")]
    #[any(
        let () = self.expect_factors("addmm", [(mat1, 2), (mat2, 2)])?,
        factors(beta: impl Scalar, alpha: impl Scalar) = [beta, alpha]
    )]
    #[typed(<M: Dim, K, K2: Dim, N, F: Element, G: Element, X: Device, Y: Device>(&self, mat1: &Tensor<F, (M, K), X>, mat2: &Tensor<G, (K2, N), Y>, beta: impl Scalar, alpha: impl Scalar) -> Tensor<E, (M, N), D>
        where
            E: NumericFor<ops::reduce::addmm>,
            S: ExpandTo<(M, N)>,
            K: Dim + SameDevice<D, X> + SameDtype<E, F, ops::reduce::addmm> + InnerDim<K2>,
            N: Dim + SameDevice<D, Y> + SameDtype<E, G, ops::reduce::addmm>;
        factors = [beta.value(), alpha.value()])]
    #[example(let x = tensor![1.0, 2.0]; let a = tensor![[1.0], [2.0]]; let b = tensor![[10.0, 20.0]]; x.addmm(&a, &b, 1, 0.5), x.addmm(&a, &b, 1, 0.5), tensor![[6.0, 12.0], [11.0, 22.0]])]
    pub(crate) fn addmm(
        &self,
        mat1: &Erased<'_, E, D>,
        mat2: &Erased<'_, E, D>,
        factors: [ScalarValue; 2],
    ) -> Result<Owned<E, D>> {
        self.beside_product("addmm", mat1, mat2, factors)
    }

    /// `beta * self + alpha * (mat @ vec)`, of a matrix and a vector; otherwise as [`addmm`](Self::addmm).
    ///
    /// # Errors
    /// If sizes do not match, or a factor does not fit.
    #[op(addmv(input, mat, vec, beta = 1, alpha = 1), dtypes = numeric)]
    #[in_place("tensor![1, 1]" "&AnyTensor::from(tensor![[1, 2], [3, 4]]), &AnyTensor::from(tensor![1, 1]), 1, 1" = "[4, 8]")]
    #[any(
        let () = self.expect_factors("addmv", [(mat, 2), (vec, 1)])?,
        factors(beta: impl Scalar, alpha: impl Scalar) = [beta, alpha]
    )]
    #[typed(<M: Dim, K, K2, F: Element, G: Element, X: Device, Y: Device>(&self, mat: &Tensor<F, (M, K), X>, vec: &Tensor<G, (K2,), Y>, beta: impl Scalar, alpha: impl Scalar) -> Tensor<E, (M,), D>
        where
            E: NumericFor<ops::reduce::addmv>,
            S: ExpandTo<(M,)>,
            K: Dim + SameDevice<D, X> + SameDtype<E, F, ops::reduce::addmv> + InnerDim<K2>,
            K2: Dim + SameDevice<D, Y> + SameDtype<E, G, ops::reduce::addmv>;
        factors = [beta.value(), alpha.value()])]
    #[example(let x = tensor![1, 2]; let a = tensor![[1, 2], [3, 4]]; let b = tensor![10, 1]; x.addmv(&a, &b, -1, 2), x.addmv(&a, &b, -1, 2), tensor![23, 66])]
    pub(crate) fn addmv(
        &self,
        mat: &Erased<'_, E, D>,
        vec: &Erased<'_, E, D>,
        factors: [ScalarValue; 2],
    ) -> Result<Owned<E, D>> {
        self.beside_product("addmv", mat, vec, factors)
    }

    /// `beta * self + alpha * (batch1 @ batch2)`, of batches of matrices; otherwise as [`addmm`](Self::addmm).
    ///
    /// # Errors
    /// If sizes do not match, or a factor does not fit.
    #[op(baddbmm(input, batch1, batch2, beta = 1, alpha = 1), dtypes = numeric)]
    #[in_place("tensor![[[1]]]" "&AnyTensor::from(tensor![[[2]]]), &AnyTensor::from(tensor![[[3]]]), 1, 1" = "[[[7]]]")]
    #[any(
        let () = self.expect_factors("baddbmm", [(batch1, 3), (batch2, 3)])?,
        factors(beta: impl Scalar, alpha: impl Scalar) = [beta, alpha]
    )]
    #[typed(<B, B2: Dim, M: Dim, K, K2: Dim, N, F: Element, G: Element, X: Device, Y: Device>(&self, batch1: &Tensor<F, (B, M, K), X>, batch2: &Tensor<G, (B2, K2, N), Y>, beta: impl Scalar, alpha: impl Scalar) -> Tensor<E, (B, M, N), D>
        where
            E: NumericFor<ops::reduce::baddbmm>,
            S: ExpandTo<(B, M, N)>,
            K: Dim + SameDevice<D, X> + SameDtype<E, F, ops::reduce::baddbmm> + InnerDim<K2>,
            N: Dim + SameDevice<D, Y> + SameDtype<E, G, ops::reduce::baddbmm>,
            B: Dim + SameBatch<B2>;
        factors = [beta.value(), alpha.value()])]
    #[example(let x = tensor![1]; let a = tensor![[[1, 2]], [[3, 4]]]; let b = tensor![[[1], [1]], [[1], [2]]]; x.baddbmm(&a, &b, 1, 1), x.baddbmm(&a, &b, 1, 1), tensor![[[4]], [[12]]])]
    pub(crate) fn baddbmm(
        &self,
        batch1: &Erased<'_, E, D>,
        batch2: &Erased<'_, E, D>,
        factors: [ScalarValue; 2],
    ) -> Result<Owned<E, D>> {
        expect_batches("baddbmm", batch1.sizes(), batch2.sizes())?;
        self.beside_product("baddbmm", batch1, batch2, factors)
    }

    /// `beta * self + alpha * sum(batch1 @ batch2)`, the sum being over the batch; otherwise as [`addmm`](Self::addmm).
    ///
    /// # Errors
    /// If sizes do not match, or a factor does not fit.
    #[op(addbmm(input, batch1, batch2, beta = 1, alpha = 1), dtypes = numeric)]
    #[in_place("tensor![[1]]" "&AnyTensor::from(tensor![[[2]], [[3]]]), &AnyTensor::from(tensor![[[4]], [[5]]]), 1, 1" = "[[24]]")]
    #[any(
        let () = self.expect_factors("addbmm", [(batch1, 3), (batch2, 3)])?,
        factors(beta: impl Scalar, alpha: impl Scalar) = [beta, alpha]
    )]
    #[typed(<B, B2: Dim, M: Dim, K, K2: Dim, N, F: Element, G: Element, X: Device, Y: Device>(&self, batch1: &Tensor<F, (B, M, K), X>, batch2: &Tensor<G, (B2, K2, N), Y>, beta: impl Scalar, alpha: impl Scalar) -> Tensor<E, (M, N), D>
        where
            E: NumericFor<ops::reduce::addbmm>,
            S: ExpandTo<(M, N)>,
            K: Dim + SameDevice<D, X> + SameDtype<E, F, ops::reduce::addbmm> + InnerDim<K2>,
            N: Dim + SameDevice<D, Y> + SameDtype<E, G, ops::reduce::addbmm>,
            B: Dim + SameBatch<B2>;
        factors = [beta.value(), alpha.value()])]
    #[example(let x = tensor![1]; let a = tensor![[[1, 2]], [[3, 4]]]; let b = tensor![[[1], [1]], [[1], [2]]]; x.addbmm(&a, &b, 1, 1), x.addbmm(&a, &b, 1, 1), tensor![[15]])]
    pub(crate) fn addbmm(
        &self,
        batch1: &Erased<'_, E, D>,
        batch2: &Erased<'_, E, D>,
        factors: [ScalarValue; 2],
    ) -> Result<Owned<E, D>> {
        let (op, a, b) = ("addbmm", batch1, batch2);
        expect_batches(op, a.sizes(), b.sizes())?;
        let (&[batch, m, k], &[_, rows, n]) = (a.sizes(), b.sizes()) else { unreachable!("both are batches") };
        if k != rows {
            return Err(Error::MatMul { lhs: a.sizes().into(), rhs: b.sizes().into(), columns: k, rows });
        }
        // A sum over batches is one matrix product, of the batches concatenated along the summed axis.
        let across = a.permute(op, &[1, 0, 2])?;
        let inner = batch.saturating_mul(k);
        let (across, down) = (across.reshape(op, &[m, inner])?, b.reshape(op, &[inner, n])?);
        self.beside_product(op, &across, &down, factors)
    }

    /// `beta * self + alpha * (a @ b)`.
    fn beside_product(
        &self,
        op: &'static str,
        a: &Erased<'_, E, D>,
        b: &Erased<'_, E, D>,
        [beta, alpha]: [ScalarValue; 2],
    ) -> Result<Owned<E, D>> {
        let summand = Summand { op, input: self.view(), beta: factor::<E>(op, beta)?, alpha: factor::<E>(op, alpha)? };
        let (storage, sizes) =
            product::<E, D>(a.view(), b.view(), Some(summand), &|sizes| Dims::new(op, sizes).map(drop))?;
        let sizes = Dims::new(op, &sizes)?;
        checked_numel::<E>(op, &sizes)?;
        Ok(Erased::dense(storage, sizes))
    }
}

/// Checks that two batches of matrices have the same length.
fn expect_batches(op: &'static str, a: &[usize], b: &[usize]) -> Result<()> {
    match (a, b) {
        (&[left, _, _], &[right, _, _]) if left == right => Ok(()),
        _ => Err(Error::Broadcast { op, lhs: a.into(), rhs: b.into() }),
    }
}
