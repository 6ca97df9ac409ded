//! `where_`: one of two operands, element by element, by a condition.

use crate::any::base::operand::{promoted, same_device, scalar_dtype};
use crate::any::call::{Bound, Value};
use crate::any::{AnyOperand, AnyTensor};
use crate::dtype::DType;
use crate::dtype::scalar::KindRank;
use crate::error::{Error, Result};
use castiron_macros::operations;

/// `a` where the condition is true, else `b` (`torch.where`). All broadcast; tensors and scalars promote.
///
/// # Errors
/// If the condition is neither bool nor `uint8`, shapes do not broadcast, or a scalar does not fit.
///
/// ```
/// use castiron::{any, AnyTensor, tensor};
/// let x = AnyTensor::from(tensor![1, -2, 3]);
/// assert_eq!(any::where_(&x.gt(0)?, &x, 0)?.to_string(), "tensor([1, 0, 3])");
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn where_(condition: &AnyTensor, a: impl Into<AnyOperand>, b: impl Into<AnyOperand>) -> Result<AnyTensor> {
    let (op, a, b) = ("where", a.into(), b.into());
    let mask = match condition.dtype {
        DType::Bool => condition.clone(),
        DType::U8 => condition.to(DType::Bool)?,
        dtype => return Err(Error::NotAdmitted { op, dtype, reason: "conditions are bool".to_owned() }),
    };
    let dtype = if a.dtype() == b.dtype() { a.dtype() } else { promoted(op, [&a, &b].map(|x| (x.kind(), x.dtype())))? };
    // With two scalars there is no tensor whose dtype they could exceed.
    let both = a.kind() == KindRank::Scalar && b.kind() == KindRank::Scalar;
    let of = |x: &AnyOperand| match x {
        AnyOperand::Array(x) => {
            same_device(op, condition, x)?;
            x.to(dtype)
        }
        AnyOperand::Number(value) if both => {
            mask.scalar_on_device(op, *value, scalar_dtype(*value)).and_then(|value| value.to(dtype))
        }
        AnyOperand::Number(value) => mask.scalar_on_device(op, *value, dtype),
    };
    let (a, b) = (of(&a)?, of(&b)?);
    same_device(op, &a, &b)?;
    AnyTensor::select_by_mask(op, &mask, &a, &b)
}

#[operations]
impl AnyTensor {
    /// With a condition alone: the indices where it is true.
    #[op(where(condition, input, other))]
    fn where_by_name(args: &Bound<'_>) -> Result<Value> {
        let condition = args.tensor("condition")?;
        if !args.is_given("input") && !args.is_given("other") {
            return Ok(condition.nonzero_tuple()?.into());
        }
        Ok(where_(condition, args.read::<AnyOperand>("input")?, args.read::<AnyOperand>("other")?)?.into())
    }
}
