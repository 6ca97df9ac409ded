//! `frexp`: mantissas and exponents.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::admit::FloatFor;
use crate::ops::pointwise::{self, Exponent, Mantissa};
use crate::tensor::Tensor;
use castiron_macros::composites;

#[composites]
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// Each element as a mantissa in `[1/2, 1)` (with its sign) and an exponent of 2. The exponent of 0, infinities and NaN is 0.
    ///
    /// Shape: that of `self`; the exponents are `i32`.
    #[op(frexp(input), dtypes = float)]
    #[typed((&self) -> (Self, Tensor<i32, S, D>)
        where
            E: FloatFor<pointwise::frexp>)]
    #[example(let x = tensor![3.5, -8.0]; x.frexp(), x.frexp(), (tensor![0.875, -0.5], tensor![2, 4; i32]))]
    pub(crate) fn frexp(&self) -> Result<(Owned<E, D>, Owned<i32, D>)> {
        Ok((self.map1("frexp", Mantissa)?, self.map1("frexp", Exponent)?))
    }
}
