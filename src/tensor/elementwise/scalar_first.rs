//! Functions of a scalar and a tensor, in this order: `pow(2, &x)` is PyTorch's `2 ** x`.

use crate::device::Device;
use crate::dtype::promote::ResultType;
use crate::dtype::scalar::ScalarKind;
use crate::dtype::{Dtype, Scalar};
use crate::error::Result;
use crate::ops::kernel::CombiningLeft;
use crate::ops::{self, BinaryOp};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::tensor::elementwise::apply::combine_scalar;
use crate::tensor::elementwise::methods::Admits;
use castiron_macros::fallible;
use core::borrow::Borrow;

/// The promoted dtype of a scalar of type `A` on the left and a tensor of shape `S` and dtype `E`.
type PromotedLeft<A, E, S> = ResultType<<S as Shape>::Kind, E, ScalarKind, <A as Scalar>::Counts>;

/// For `pow "…"` it writes `pow(scalar, tensor)`.
macro_rules! scalar_first {
    ($($op:ident, $doc:literal, $torch:literal, $example:literal;)*) => {$(
        #[doc = $doc]
        ///
        #[doc = concat!("The scalar counts in promotion by its category alone. Dtypes and result dtype are those of [`Tensor::", stringify!($op), "`].")]
        ///
        #[doc = concat!("PyTorch: `", $torch, "`.")]
        ///
        /// # Panics
        /// If the scalar does not fit the dtype or memory runs out.
        ///
        /// ```
        /// # use castiron::tensor;
        #[doc = $example]
        /// ```
        #[fallible(free)]
        pub fn $op<A: Scalar, E: Dtype, S: Shape, D: Device>(
            scalar: A,
            tensor: impl Borrow<Tensor<E, S, D>>,
        ) -> Result<Tensor<<ops::$op as BinaryOp>::Output<PromotedLeft<A, E, S>>, S, D>>
        where
            ops::$op: Admits<A::Counts, E, S::Kind>,
        {
            let kernel = CombiningLeft::<ops::$op, PromotedLeft<A, E, S>>;
            combine_scalar::<ops::$op, E, PromotedLeft<A, E, S>, S, D, _>(scalar.value(), tensor.borrow(), false, kernel)
        }
    )*};
}
scalar_first! {
    pow, "A scalar raised to each element. Integers wrap, and to a negative power round towards zero.",
        "torch.pow(scalar, tensor)`, `2 ** tensor", "assert_eq!(castiron::pow(2, tensor![3, 0, -1]).to_vec(), [8_i64, 1, 0]);";
    float_power, "A scalar raised to each element, in `f64` or `Complex<f64>`.",
        "torch.float_power(scalar, tensor)", "assert_eq!(castiron::float_power(2, tensor![3, -1]).to_vec(), [8.0, 0.5]);";
    floor_divide, "A scalar divided by each element, rounded down. Integer division by zero is an error.",
        "scalar // tensor", "assert_eq!(castiron::floor_divide(-7, tensor![2, 7]).to_vec(), [-4_i64, -1]);";
    xlogy, "A scalar times the logarithm of each element; 0 for the scalar 0, unless the element is NaN.",
        "torch.xlogy(scalar, tensor)", "assert_eq!(castiron::xlogy(2, tensor![1, 1]).to_vec(), [0.0_f32, 0.0]);";
    xlog1py, "A scalar times the logarithm of 1 more than each element; 0 for the scalar 0, unless the element is NaN.",
        "torch.special.xlog1py(scalar, tensor)", "assert_eq!(castiron::xlog1py(2, tensor![0, 0]).to_vec(), [0.0_f32, 0.0]);";
    zeta, "The Hurwitz zeta function of a scalar and each element: the sum of `(k + element)^-scalar` over all `k` from 0.",
        "torch.special.zeta(scalar, tensor)", "assert_eq!(castiron::zeta(1, tensor![1.0]).to_vec(), [f32::INFINITY]);";
}
