//! Elementwise operations with arguments of their own.
//! Uses `elementwise::apply`, `elementwise::op_table`, `base::operand`, `base::dispatch`.

use super::named;
use crate::any::AnyTensor;
use crate::any::base::operand::{AnyOperand, promoted, scalar_dtype};
use crate::any::call::{Bound, NamedOp, Value};
use crate::any::elementwise::apply::{combine, combined_strides};
use crate::any::elementwise::op_table::{BinaryRow, binary};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{Category, DType};
use crate::error::{Error, Result};

/// `other * alpha` in the dtype of the result.
fn scaled(op: &'static str, input: &AnyOperand, other: AnyOperand, alpha: ScalarValue) -> Result<AnyOperand> {
    if alpha == ScalarValue::Int(1) {
        return Ok(other);
    }
    let dtype = promoted(op, [(input.kind(), input.dtype()), (other.kind(), other.dtype())])?;
    let category = scalar_dtype(alpha).category();
    let fits = match dtype.category() {
        Category::Boolean => category <= Category::Integral,
        Category::Integral => category == Category::Integral,
        Category::Floating => matches!(category, Category::Integral | Category::Floating),
        Category::Complex => category != Category::Boolean,
    };
    if !fits {
        let reason = format!("a result of {dtype} takes no `alpha` of {alpha}");
        return Err(Error::InvalidArgument { op, reason });
    }
    let other = match other {
        AnyOperand::Array(tensor) => tensor.to(dtype)?,
        AnyOperand::Number(value) => AnyTensor::scalar_of(op, value, dtype)?,
    };
    Ok(combine(binary::mul, &other.into(), &AnyTensor::scalar_of(op, alpha, dtype)?.into())?.into())
}

/// A result in the layout that the operands themselves give it, not what was computed of them.
fn laid_out(result: AnyTensor, row: &'static BinaryRow, input: &AnyOperand, other: &AnyOperand) -> Result<Value> {
    let strides = combined_strides(row, input, other)?;
    Ok(if *strides == *result.stride() { result } else { result.copied(&strides)? }.into())
}

/// Differences are not defined for bool.
fn admits(op: &'static str, a: &AnyOperand, b: &AnyOperand) -> Result<()> {
    match [a.dtype(), b.dtype()].into_iter().find(|dtype| *dtype == DType::Bool) {
        Some(dtype) => Err(crate::any::base::dispatch::refused(op, dtype)),
        None => Ok(()),
    }
}

fn alpha(args: &Bound<'_>) -> Result<ScalarValue> {
    args.scalar_or("alpha", ScalarValue::Int(1))
}

pub(super) const OPS: &[NamedOp] = named! {
    "add"("input", "other", "alpha") "all computing dtypes" { in_place(Elements) output(Castable) } => |args| {
        let (input, other) = (args.operand("input")?, args.operand("other")?);
        let product = scaled("add", &input, other.clone(), alpha(args)?)?;
        laid_out(combine(binary::add, &input, &product)?, binary::add, &input, &other)
    };
    "sub"("input", "other", "alpha") "all computing dtypes but bool" { in_place(Elements) output(Castable) } => |args| {
        let (input, other) = (args.operand("input")?, args.operand("other")?);
        admits("sub", &input, &other)?;
        let product = scaled("sub", &input, other.clone(), alpha(args)?)?;
        laid_out(combine(binary::sub, &input, &product)?, binary::sub, &input, &other)
    };
    "rsub"("input", "other", "alpha") "all computing dtypes but bool" => |args| {
        let (input, other) = (AnyOperand::from(args.tensor("input")?), args.operand("other")?);
        admits("rsub", &input, &other)?;
        let input = scaled("rsub", &other, input, alpha(args)?)?;
        Ok(combine(binary::sub, &other, &input)?.into())
    };
    "div"("input", "other", "rounding_mode") "all computing dtypes" { in_place(Elements) output(Castable) aliases(&["divide"]) } => |args| {
        let row = match args.str_or("rounding_mode", "")? {
            "" => binary::div,
            "floor" => binary::floor_divide,
            "trunc" => binary::trunc_divide,
            other => {
                let reason = format!("rounding_mode is None, `floor` or `trunc`, got {other:?}");
                return Err(Error::InvalidArgument { op: "div", reason });
            }
        };
        Ok(combine(row, &args.operand("input")?, &args.operand("other")?)?.into())
    };
    "clamp"("input", "min", "max") "all dtypes with an order" { output(CastableBetweenTensors) aliases(&["clip"]) } => |args| {
        let (min, max) = (args.operand_or_none("min")?, args.operand_or_none("max")?);
        Ok(args.tensor("input")?.clamp(min, max)?.into())
    };
};
