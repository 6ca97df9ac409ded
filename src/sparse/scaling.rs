//! Values combined with a scalar or a zero-dim tensor: `*`, `/`, `floor_divide`, `pow`. The indices are kept.

use super::{Rows, SparseTensor};
use crate::device::{Cpu, Meet};
use crate::dtype::scalar::{Dimensioned, ScalarKind};
use crate::dtype::{Dtype, Element, Scalar, ScalarValue};
use crate::error::{Error, Result};
use crate::ops::{self, BinaryOp};
use crate::shape::{Dyn, Shape};
use crate::tensor::{Admits, Operand, Outcome, PromotedWith, combine_as};
use castiron_macros::fallible;

/// `Op(values, other)`, where `P` is the promoted dtype.
pub(super) fn scaled<O, E, P, R, S: Shape, const N: usize>(
    sparse: &SparseTensor<E, S, N>,
    other: &R,
) -> Result<SparseTensor<O::Output<P>, S, N>>
where
    O: BinaryOp,
    E: Dtype,
    P: Dtype,
    R: Operand<Shape = ()>,
    Cpu: Meet<R::Place, Dimensioned, R::Kind, Output = Cpu>,
{
    let values: Rows<O::Output<P>> = combine_as::<O, E, P, (Dyn, Dyn), Cpu, R, _, _>(&sparse.parts.values, other)?;
    Ok(sparse.with_values(values))
}

impl<E: Element, S: Shape, const N: usize> SparseTensor<E, S, N> {
    /// Raises each element to a nonzero power (`torch.pow`); the result is coalesced.
    ///
    /// Dtypes promote as for strided tensors.
    ///
    /// # Panics
    /// If the exponent is zero, which would turn every zero into a one, or integers are raised to a negative integer.
    ///
    /// ```
    /// let s = castiron::tensor![[0.0, 3.0]].to_sparse();
    /// assert_eq!(s.pow(2).values().to_vec(), [9.0_f32]);
    /// assert!(s.try_pow(0).is_err());
    /// ```
    #[fallible]
    pub fn pow<R: Scalar>(&self, exponent: R) -> Result<SparseTensor<Outcome<ops::pow, E, S, R>, S, N>>
    where
        E: Dtype,
        ops::pow: Admits<E, R::Counts, ScalarKind>,
    {
        let is_zero = match exponent.value() {
            ScalarValue::Bool(value) => !value,
            ScalarValue::Int(value) => value == 0,
            ScalarValue::Float(value) => value == 0.0,
            ScalarValue::Complex(value) => value.re == 0.0 && value.im == 0.0,
        };
        if is_zero {
            let reason = "the zeroth power of zero is one: a sparse tensor would become dense".to_owned();
            return Err(Error::InvalidArgument { op: "pow", reason });
        }
        scaled::<ops::pow, E, PromotedWith<E, S, R>, R, S, N>(&self.try_coalesce()?, &exponent)
    }

    /// Each element divided by a scalar and rounded down (`torch.floor_divide`); the result is coalesced.
    ///
    /// # Panics
    /// If integers are divided by zero or the scalar does not fit.
    ///
    /// ```
    /// let s = castiron::tensor![[0, 7]].to_sparse();
    /// assert_eq!(s.floor_divide(2).values().to_vec(), [3_i64]);
    /// ```
    #[fallible]
    pub fn floor_divide<R: Scalar>(&self, divisor: R) -> Result<SparseTensor<Outcome<ops::floor_divide, E, S, R>, S, N>>
    where
        E: Dtype,
        ops::floor_divide: Admits<E, R::Counts, ScalarKind>,
    {
        scaled::<ops::floor_divide, E, PromotedWith<E, S, R>, R, S, N>(&self.try_coalesce()?, &divisor)
    }
}
