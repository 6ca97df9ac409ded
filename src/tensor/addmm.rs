//! Sums with a product: `addmm`, `addmv`, `addr`, `addbmm`, `baddbmm`.

use super::Tensor;
use super::matmul::multiply;
use super::products::outer_product;
use crate::device::Device;
use crate::dtype::{Category, Compute, Dtype, Element, Scalar, ScalarValue};
use crate::error::{Error, Result, unwrap};
use crate::ops::admit::NumericFor;
use crate::ops::kernel::{Map1, Map2};
use crate::ops::reduce::Accumulating;
use crate::ops::{self, Op};
use crate::shape::{Dim, ExpandTo, InnerDim, SameDim, Shape, SizeArray, strides};

/// `beta * input + alpha * product`; a `beta` of 0 leaves the input out, NaN included.
struct Adding<C> {
    beta: C,
    alpha: C,
    /// Whether an `alpha` of 0 leaves the product out too.
    omits: bool,
}
impl<C: Copy> Clone for Adding<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C: Copy> Copy for Adding<C> {}
impl<C: Compute> Adding<C> {
    #[inline(always)]
    fn scaled(self, product: C) -> C {
        let zero = self.omits && self.alpha == C::default();
        if zero { self.alpha } else { self.alpha.binary::<ops::mul>(product) }
    }
}
impl<E: Dtype> Map2<E, E, E> for Adding<E::Compute> {
    #[inline(always)]
    fn call(self, product: E, input: E) -> E {
        let input = self.beta.binary::<ops::mul>(input.to_compute());
        E::from_compute(input.binary::<Accumulating>(self.scaled(product.to_compute())))
    }
}
impl<E: Dtype> Map1<E, E> for Adding<E::Compute> {
    #[inline(always)]
    fn call(self, product: E) -> E {
        E::from_compute(self.scaled(product.to_compute()))
    }
}

/// A factor in the number that `E` computes in; integers take no floating-point one.
fn factor<O: Op, E: Dtype>(name: &str, value: ScalarValue) -> Result<E::Compute> {
    let floating = matches!(value, ScalarValue::Float(_) | ScalarValue::Complex(_));
    if E::DTYPE.category() <= Category::Integral && floating {
        let reason = format!("`{name}` must not be a floating-point number for tensors of integers, got {value}");
        return Err(Error::InvalidArgument { op: O::NAME, reason });
    }
    let refused = Error::ScalarOutOfRange { op: O::NAME, value, dtype: E::DTYPE };
    if !E::DTYPE.is_complex() && matches!(value, ScalarValue::Complex(value) if value.im != 0.0) {
        return Err(refused);
    }
    value.to_dtype::<E::Compute>().ok_or(refused)
}

/// `beta * input + alpha * product`, over the product.
pub(super) fn add_product<O: Op, E: Dtype, S: Shape, T: Shape, D: Device>(
    input: &Tensor<E, S, D>,
    product: impl FnOnce() -> Result<Tensor<E, T, D>>,
    beta: ScalarValue,
    alpha: ScalarValue,
) -> Result<Tensor<E, T, D>> {
    // PyTorch computes `addr` element by element, the others by matrix products that skip what is multiplied by 0.
    let omits = O::NAME != ops::reduce::addr::NAME;
    let adding = Adding { beta: factor::<O, E>("beta", beta)?, alpha: factor::<O, E>("alpha", alpha)?, omits };
    let mut product = product()?;
    let sizes = product.shape();
    let (from, to) = (input.shape(), sizes.as_ref());
    let expands = S::RANK <= T::RANK
        && from.as_ref().iter().zip(&to[T::RANK - S::RANK..]).all(|(&from, &to)| from == to || from == 1);
    if !expands {
        return Err(Error::Broadcast { op: O::NAME, lhs: from.as_ref().into(), rhs: to.into() });
    }
    if adding.beta == E::Compute::default() {
        D::update1::<E>(adding, product.view_mut()?)?;
        return Ok(product);
    }
    let mut strides = T::Sizes::filled(0);
    strides::broadcast(from.as_ref(), input.stride().as_ref(), to, strides.as_mut());
    D::update2::<E, E>(adding, input.view().restrided(to, strides.as_ref()), product.view_mut()?)?;
    Ok(product)
}

/// For `addmm (M, N) = [mat1: (M, K), mat2: (K2, N)]` it writes `addmm` and `try_addmm`.
macro_rules! added_products {
    ($($(#[$doc:meta])* $name:ident $try:ident <$($dim:ident),+> [$($bound:tt)*] ($left:ident: $left_shape:ty, $right:ident: $right_shape:ty) -> $result:ty,
       |$a:ident, $b:ident| $product:expr, $example:literal;)*) => {$(
        #[doc = concat!("[`", stringify!($name), "`](Tensor::", stringify!($name), ").")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(#[$doc])*
            ///
            /// `self` is expanded to the shape of the result; a `beta` of 0 leaves it out, NaN included. All hold one dtype,
            /// which is the result's; `bool` is refused, and integers take no floating-point factors.
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "`, where both factors are 1 if not given.")]
            ///
            /// # Panics
            #[doc = concat!("If sizes known at run time do not match, or a factor does not fit; [`", stringify!($try), "`](Self::", stringify!($try), ") returns the error.")]
            ///
            /// ```
            /// use castiron::{shape, tensor, Tensor};
            #[doc = $example]
            /// ```
            #[track_caller]
            pub fn $name<$($dim),+>(
                &self,
                $left: &Tensor<E, $left_shape, D>,
                $right: &Tensor<E, $right_shape, D>,
                beta: impl Scalar,
                alpha: impl Scalar,
            ) -> Tensor<E, $result, D>
            where
                E: NumericFor<ops::reduce::$name>,
                $($dim: Dim,)+
                S: ExpandTo<$result>,
                $($bound)*
            {
                unwrap(self.$try($left, $right, beta, alpha))
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), "), returning the error.")]
            pub fn $try<$($dim),+>(
                &self,
                $left: &Tensor<E, $left_shape, D>,
                $right: &Tensor<E, $right_shape, D>,
                beta: impl Scalar,
                alpha: impl Scalar,
            ) -> Result<Tensor<E, $result, D>>
            where
                E: NumericFor<ops::reduce::$name>,
                $($dim: Dim,)+
                S: ExpandTo<$result>,
                $($bound)*
            {
                let ($a, $b) = ($left, $right);
                add_product::<ops::reduce::$name, E, S, $result, D>(self, || $product, beta.value(), alpha.value())
            }
        }
    )*};
}
added_products! {
    /// `beta * self + alpha * (mat1 @ mat2)`, of matrices.
    addmm try_addmm <M, K, K2, N> [K: InnerDim<K2>,] (mat1: (M, K), mat2: (K2, N)) -> (M, N),
        |a, b| multiply(a.view(), b.view()),
        "let x = tensor![1.0, 2.0].addmm(&tensor![[1.0], [2.0]], &tensor![[10.0, 20.0]], 1, 0.5);\nassert_eq!(x.to_vec(), [6.0, 12.0, 11.0, 22.0]);";
    /// `beta * self + alpha * (mat @ vec)`, of a matrix and a vector.
    addmv try_addmv <M, K, K2> [K: InnerDim<K2>,] (mat: (M, K), vec: (K2,)) -> (M,),
        |a, b| multiply(a.view(), b.view()),
        "assert_eq!(tensor![1, 2].addmv(&tensor![[1, 2], [3, 4]], &tensor![10, 1], -1, 2).to_vec(), [23, 66]);";
    /// `beta * self + alpha * (batch1 @ batch2)`, of batches of matrices.
    baddbmm try_baddbmm <B, B2, M, K, K2, N> [K: InnerDim<K2>, B: SameDim<B2>,] (batch1: (B, M, K), batch2: (B2, K2, N)) -> (B, M, N),
        |a, b| batches("baddbmm", a, b),
        "let x = tensor![1].baddbmm(&tensor![[[1, 2]], [[3, 4]]], &tensor![[[1], [1]], [[1], [2]]], 1, 1);\nassert_eq!(x.to_vec(), [4, 12]);";
    /// `beta * self + alpha * sum(batch1 @ batch2)`, the sum being over the batch.
    addbmm try_addbmm <B, B2, M, K, K2, N> [K: InnerDim<K2>, B: SameDim<B2>,] (batch1: (B, M, K), batch2: (B2, K2, N)) -> (M, N),
        |a, b| summed_batches(a, b),
        "let x = tensor![1].addbmm(&tensor![[[1, 2]], [[3, 4]]], &tensor![[[1], [1]], [[1], [2]]], 1, 1);\nassert_eq!(x.to_vec(), [15]);";
    /// `beta * self + alpha * outer(vec1, vec2)`, of vectors.
    addr try_addr <M, N> [] (vec1: (M,), vec2: (N,)) -> (M, N),
        |a, b| outer_product::<E, E, E, M, N, D>(a, b),
        "assert_eq!(tensor![1].addr(&tensor![1, 2], &tensor![3, 4], 1, 10).to_vec(), [31, 41, 61, 81]);";
}

/// The product of two batches of the same length.
fn batches<E: Dtype, S: Shape, R: Shape, T: Shape, D: Device>(
    op: &'static str,
    a: &Tensor<E, S, D>,
    b: &Tensor<E, R, D>,
) -> Result<Tensor<E, T, D>> {
    if a.shape().as_ref()[0] != b.shape().as_ref()[0] {
        return Err(Error::Broadcast { op, lhs: a.shape().as_ref().into(), rhs: b.shape().as_ref().into() });
    }
    multiply(a.view(), b.view())
}

/// `sum(a @ b)` over the batch: the product of `(m, b * k)` and `(b * k, n)`.
fn summed_batches<E: Dtype, B: Dim, B2: Dim, M: Dim, K: Dim, K2: Dim, N: Dim, D: Device>(
    a: &Tensor<E, (B, M, K), D>,
    b: &Tensor<E, (B2, K2, N), D>,
) -> Result<Tensor<E, (M, N), D>> {
    let ([batch, m, k], [batch2, k2, n]) = (a.shape(), b.shape());
    if batch != batch2 {
        return Err(Error::Broadcast { op: "addbmm", lhs: a.shape()[..].into(), rhs: b.shape()[..].into() });
    }
    if k != k2 {
        return Err(Error::MatMul { lhs: a.shape()[..].into(), rhs: b.shape()[..].into(), columns: k, rows: k2 });
    }
    let [outer, row, inner] = a.stride();
    let across = a.viewed::<(M, B, K)>(a.storage_offset(), [m, batch, k], [row, outer, inner]).try_contiguous()?;
    let down = b.try_contiguous()?;
    let inner = batch * k;
    let product =
        D::matmul::<E>(across.view().restrided(&[m, inner], &[inner, 1]), down.view().restrided(&[inner, n], &[n, 1]))?;
    Ok(Tensor::dense(product, [m, n]))
}
