//! Sums with a product: `addmm`, `addmv`, `addr`, `addbmm`, `baddbmm`.

use crate::composite::linalg::product::Summand;
use crate::device::Device;
use crate::dtype::{Category, Compute, DType, Dtype, Element, Scalar, ScalarValue};
use crate::error::{Error, Result};
use crate::ops::admit::NumericFor;
use crate::ops::kernel::{Map1, Map2};
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::reduce::Accumulating;
use crate::ops::{self, Op};
use crate::shape::{Dim, ExpandTo, InnerDim, SameBatch, Shape};
use crate::tensor::linalg::matmul::multiply;
use crate::tensor::linalg::products::outer_product;
use crate::tensor::{SameDevice, SameDtype, Tensor};
use castiron_macros::fallible;

/// `beta * input + alpha * product`, element by element; a `beta` of 0 ignores the input, even NaN.
struct Adding<C> {
    beta: C,
    alpha: C,
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
        self.alpha.binary::<ops::mul>(product)
    }
}
impl<E: Dtype> Map2<E, E, E> for Adding<E::Compute> {
    #[inline(always)]
    fn call(self, product: E, input: E) -> E {
        let input = self.beta.binary::<ops::mul>(input.to_compute());
        E::from_compute(input.binary::<Accumulating>(self.scaled(product.to_compute())))
    }
    fn text(&self, kernel: &mut Kernel, product: Value, input: Value) -> Value {
        let (beta, alpha) = (kernel.parameter(self.beta), kernel.parameter(self.alpha));
        let (product, input) = (kernel.widen(product), kernel.widen(input));
        let input = kernel.row("mul", E::DTYPE, &[beta, input]);
        let product = kernel.row("mul", E::DTYPE, &[alpha, product]);
        kernel.rounded("sum", E::DTYPE, &[input, product])
    }
}
impl<E: Dtype> Map1<E, E> for Adding<E::Compute> {
    #[inline(always)]
    fn call(self, product: E) -> E {
        E::from_compute(self.scaled(product.to_compute()))
    }
    fn text(&self, kernel: &mut Kernel, product: Value) -> Value {
        let (alpha, product) = (kernel.parameter(self.alpha), kernel.widen(product));
        kernel.rounded("mul", E::DTYPE, &[alpha, product])
    }
}

/// Checks that a factor of `addr` on integers is an integer, as PyTorch does. (The other operations truncate the factor.)
pub(crate) fn expect_whole_factor(op: &'static str, name: &str, value: ScalarValue, dtype: DType) -> Result<()> {
    let floating = matches!(value, ScalarValue::Float(_) | ScalarValue::Complex(_));
    if dtype.category() <= Category::Integral && floating {
        let reason = format!("`{name}` must not be a floating-point number for tensors of integers, got {value}");
        return Err(Error::InvalidArgument { op, reason });
    }
    Ok(())
}

/// A factor in the computing type of `E`.
pub(crate) fn factor<E: Dtype>(op: &'static str, value: ScalarValue) -> Result<E::Compute> {
    let refused = Error::ScalarOutOfRange { op, value, dtype: E::DTYPE };
    if !E::DTYPE.is_complex() && matches!(value, ScalarValue::Complex(value) if value.im != 0.0) {
        return Err(refused);
    }
    value.to_dtype::<E::Compute>().ok_or(refused)
}

/// The tensor that a product is added to. PyTorch's matrix products ignore it if its factor is 0.
fn summand<'a, O: Op, E: Dtype, S: Shape, D: Device>(
    input: &'a Tensor<E, S, D>,
    [beta, alpha]: [ScalarValue; 2],
) -> Result<Summand<'a, D::Storage, E>> {
    let (beta, alpha) = (factor::<E>(O::NAME, beta)?, factor::<E>(O::NAME, alpha)?);
    Ok(Summand { op: O::NAME, input: input.elements(), beta, alpha })
}

/// `beta * input + alpha * outer(a, b)`, which PyTorch computes element by element.
fn add_outer<E: Dtype, S: Shape, M: Dim, N: Dim, D: Device>(
    input: &Tensor<E, S, D>,
    a: &Tensor<E, (M,), D>,
    b: &Tensor<E, (N,), D>,
    factors: [ScalarValue; 2],
) -> Result<Tensor<E, (M, N), D>> {
    for (name, factor) in ["beta", "alpha"].into_iter().zip(factors) {
        expect_whole_factor(ops::reduce::addr::NAME, name, factor, E::DTYPE)?;
    }
    let summand = summand::<ops::reduce::addr, E, S, D>(input, factors)?;
    let adding = Adding { beta: summand.beta, alpha: summand.alpha };
    let mut product = outer_product::<E, E, E, M, N, D>(a, b)?;
    let sizes = product.shape();
    let strides = summand.strides(&sizes)?;
    if adding.beta == E::Compute::default() {
        D::update1::<E>(adding, product.elements_mut()?)?;
        return Ok(product);
    }
    D::update2::<E, E>(adding, summand.input.restrided(&sizes, &strides), product.elements_mut()?)?;
    Ok(product)
}

/// For `addmm <…> (mat1 by K: (M, K), mat2 by N: (K2, N)) -> (M, N)` it writes `addmm`; after `by` is the dimension that determines an
/// operand's device and dtype.
macro_rules! added_products {
    ($($(#[$doc:meta])* $name:ident <$($dim:ident),+> [$($bound:tt)*] ($left:ident by $own:ident: $left_shape:ty, $right:ident by $other:ident: $right_shape:ty) -> $result:ty,
       |$input:ident, $a:ident, $b:ident, $factors:ident| $product:expr, $example:literal;)*) => {$(
        #[doc = concat!("[`", stringify!($name), "`](Tensor::", stringify!($name), ").")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(#[$doc])*
            ///
            /// `self` is expanded to the shape of the result; a `beta` of 0 ignores it, even NaN. All have one dtype, which is the
            /// result's; `bool` is refused. For integers factors are truncated (`addr` refuses fractions).
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "`, where both factors are 1 if not given.")]
            ///
            /// # Panics
            /// If sizes known at run time do not match, or a factor does not fit.
            ///
            /// ```
            /// use castiron::{shape, tensor, Tensor};
            #[doc = $example]
            /// ```
            #[fallible]
            pub fn $name<$($dim,)+ F: Element, G: Element, X: Device, Y: Device>(
                &self,
                $left: &Tensor<F, $left_shape, X>,
                $right: &Tensor<G, $right_shape, Y>,
                beta: impl Scalar,
                alpha: impl Scalar,
            ) -> Result<Tensor<E, $result, D>>
            where
                E: NumericFor<ops::reduce::$name>,
                $($dim: Dim,)+
                S: ExpandTo<$result>,
                $own: SameDevice<D, X> + SameDtype<E, F, ops::reduce::$name>,
                $other: SameDevice<D, Y> + SameDtype<E, G, ops::reduce::$name>,
                $($bound)*
            {
                let ($input, $factors) = (self, [beta.value(), alpha.value()]);
                let ($a, $b) = ($own::alike($own::here($left)), $other::alike($other::here($right)));
                $product
            }
        }
    )*};
}
added_products! {
    /// `beta * self + alpha * (mat1 @ mat2)`, of matrices.
    addmm <M, K, K2, N> [K: InnerDim<K2>,] (mat1 by K: (M, K), mat2 by N: (K2, N)) -> (M, N),
        |x, a, b, factors| multiply(a.elements(), b.elements(), Some(summand::<ops::reduce::addmm, _, _, D>(x, factors)?)),
        "let x = tensor![1.0, 2.0].addmm(&tensor![[1.0], [2.0]], &tensor![[10.0, 20.0]], 1, 0.5);\nassert_eq!(x.to_vec(), [6.0, 12.0, 11.0, 22.0]);";
    /// `beta * self + alpha * (mat @ vec)`, of a matrix and a vector.
    addmv <M, K, K2> [K: InnerDim<K2>,] (mat by K: (M, K), vec by K2: (K2,)) -> (M,),
        |x, a, b, factors| multiply(a.elements(), b.elements(), Some(summand::<ops::reduce::addmv, _, _, D>(x, factors)?)),
        "assert_eq!(tensor![1, 2].addmv(&tensor![[1, 2], [3, 4]], &tensor![10, 1], -1, 2).to_vec(), [23, 66]);";
    /// `beta * self + alpha * (batch1 @ batch2)`, of batches of matrices.
    baddbmm <B, B2, M, K, K2, N> [K: InnerDim<K2>, B: SameBatch<B2>,] (batch1 by K: (B, M, K), batch2 by N: (B2, K2, N)) -> (B, M, N),
        |x, a, b, factors| batches(a, b, summand::<ops::reduce::baddbmm, _, _, D>(x, factors)?),
        "let x = tensor![1].baddbmm(&tensor![[[1, 2]], [[3, 4]]], &tensor![[[1], [1]], [[1], [2]]], 1, 1);\nassert_eq!(x.to_vec(), [4, 12]);";
    /// `beta * self + alpha * sum(batch1 @ batch2)`, the sum being over the batch.
    addbmm <B, B2, M, K, K2, N> [K: InnerDim<K2>, B: SameBatch<B2>,] (batch1 by K: (B, M, K), batch2 by N: (B2, K2, N)) -> (M, N),
        |x, a, b, factors| summed_batches(a, b, summand::<ops::reduce::addbmm, _, _, D>(x, factors)?),
        "let x = tensor![1].addbmm(&tensor![[[1, 2]], [[3, 4]]], &tensor![[[1], [1]], [[1], [2]]], 1, 1);\nassert_eq!(x.to_vec(), [15]);";
    /// `beta * self + alpha * outer(vec1, vec2)`, of vectors.
    addr <M, N> [] (vec1 by M: (M,), vec2 by N: (N,)) -> (M, N),
        |x, a, b, factors| add_outer(x, a, b, factors),
        "assert_eq!(tensor![1].addr(&tensor![1, 2], &tensor![3, 4], 1, 10).to_vec(), [31, 41, 61, 81]);";
}

/// The product of two batches of the same length.
fn batches<E: Dtype, S: Shape, R: Shape, T: Shape, D: Device>(
    a: &Tensor<E, S, D>,
    b: &Tensor<E, R, D>,
    summand: Summand<'_, D::Storage, E>,
) -> Result<Tensor<E, T, D>> {
    if a.shape().as_ref()[0] != b.shape().as_ref()[0] {
        return Err(Error::Broadcast {
            op: summand.op,
            lhs: a.shape().as_ref().into(),
            rhs: b.shape().as_ref().into(),
        });
    }
    multiply(a.elements(), b.elements(), Some(summand))
}

/// `sum(a @ b)` over the batch: the product of `(m, b * k)` and `(b * k, n)`.
fn summed_batches<E: Dtype, B: Dim, B2: Dim, M: Dim, K: Dim, K2: Dim, N: Dim, D: Device>(
    a: &Tensor<E, (B, M, K), D>,
    b: &Tensor<E, (B2, K2, N), D>,
    summand: Summand<'_, D::Storage, E>,
) -> Result<Tensor<E, (M, N), D>> {
    let ([batch, m, k], [batch2, k2, n]) = (a.shape(), b.shape());
    if batch != batch2 {
        return Err(Error::Broadcast { op: "addbmm", lhs: a.shape()[..].into(), rhs: b.shape()[..].into() });
    }
    if k != k2 {
        return Err(Error::MatMul { lhs: a.shape()[..].into(), rhs: b.shape()[..].into(), columns: k, rows: k2 });
    }
    let [outer, row, inner] = a.stride();
    let across = a.restrided::<(M, B, K)>(0, [m, batch, k], [row, outer, inner]).try_contiguous()?;
    let down = b.try_contiguous()?;
    let inner = batch * k;
    multiply(
        across.elements().restrided(&[m, inner], &[inner, 1]),
        down.elements().restrided(&[inner, n], &[n, 1]),
        Some(summand),
    )
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    use crate::dtype::{Complex, f16};
    suite.two::<_, f16, f16, f16>("adding", Adding { beta: 0.3_f32, alpha: 1.7 });
    suite.one::<_, i64, i64>("adding", Adding { beta: 2_i64, alpha: 3 });
    let (beta, alpha) = (Complex::new(0.5_f32, 1.0), Complex::new(2.0, -0.5));
    suite.two::<_, Complex<f32>, Complex<f32>, Complex<f32>>("adding", Adding { beta, alpha });
}
