//! Unary functions with `f(0) = 0`, applied to the coalesced values. Functions with `f(0) != 0` are rejected at compile time.

use super::SparseTensor;
use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::ops::{self, Op, UnaryOp};
use crate::shape::Shape;
use castiron_macros::fallible;

/// A function with `f(0) = 0`, which sparse tensors therefore have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` of zero is not zero, or PyTorch does not define it for sparse tensors: a sparse tensor has no `{Self}`",
    label = "the tensor is sparse",
    note = "`.to_dense()` makes it strided; to act on the values alone, take `values()`"
)]
pub trait KeepsZero<E>: Op {}

/// `sin try_sin` writes `impl KeepsZero for sin`, and the two methods.
macro_rules! functions {
    ($($op:ident $try:ident, $torch:literal;)*) => {$(
        impl<E> KeepsZero<E> for ops::$op {}

        impl<E: Element, S: Shape, const N: usize> SparseTensor<E, S, N> {
            #[cfg_attr(doc, doc(hidden))]
            #[doc = concat!("The strided tensors' [`", stringify!($op), "`](crate::ops::", stringify!($op), ") of the elements, values of one place being added first; the result is coalesced.")]
            ///
            /// Shape, dtypes and result dtype are those of the strided operation.
            ///
            #[doc = concat!("PyTorch: `", $torch, "`.")]
            ///
            /// # Panics
            /// If memory runs out.
            ///
            /// ```
            /// let s = castiron::tensor![[0.0, 0.5]].to_sparse();
            #[doc = concat!("assert_eq!(s.", stringify!($op), "().to_dense(), castiron::tensor![[0.0, 0.5]].", stringify!($op), "());")]
            /// ```
            #[fallible]
            pub fn $op<O: Dtype>(&self) -> Result<SparseTensor<O, S, N>>
            where
                E: Dtype,
                ops::$op: UnaryOp<E, Output = O>,
            {
                let sums = self.try_coalesce()?;
                Ok(sums.with_values(sums.parts.values.$try()?))
            }
        }
    )*};
}
functions! {
    abs try_abs, "torch.abs";
    angle try_angle, "torch.angle";
    asin try_asin, "torch.asin";
    asinh try_asinh, "torch.asinh";
    atan try_atan, "torch.atan";
    atanh try_atanh, "torch.atanh";
    ceil try_ceil, "torch.ceil";
    deg2rad try_deg2rad, "torch.deg2rad";
    erf try_erf, "torch.erf";
    erfinv try_erfinv, "torch.erfinv";
    expm1 try_expm1, "torch.expm1";
    floor try_floor, "torch.floor";
    frac try_frac, "torch.frac";
    isinf try_isinf, "torch.isinf";
    isnan try_isnan, "torch.isnan";
    isneginf try_isneginf, "torch.isneginf";
    isposinf try_isposinf, "torch.isposinf";
    log1p try_log1p, "torch.log1p";
    rad2deg try_rad2deg, "torch.rad2deg";
    relu try_relu, "torch.relu";
    round try_round, "torch.round";
    sgn try_sgn, "torch.sgn";
    sign try_sign, "torch.sign";
    signbit try_signbit, "torch.signbit";
    sin try_sin, "torch.sin";
    sinh try_sinh, "torch.sinh";
    sqrt try_sqrt, "torch.sqrt";
    tan try_tan, "torch.tan";
    tanh try_tanh, "torch.tanh";
    trunc try_trunc, "torch.trunc";
}

/// `exp` writes a method whose condition never holds, to say why there is none.
macro_rules! refused {
    ($($op:ident)*) => {$(
        impl<E: Element, S: Shape, const N: usize> SparseTensor<E, S, N> {
            #[doc(hidden)]
            pub fn $op(&self) -> SparseTensor<E, S, N>
            where
                ops::$op: KeepsZero<E>,
            {
                unreachable!("the condition holds for no dtype")
            }
        }
    )*};
}
refused!(exp exp2 log log2 log10 cos cosh acos acosh sigmoid rsqrt reciprocal erfc logical_not isfinite gelu silu);
