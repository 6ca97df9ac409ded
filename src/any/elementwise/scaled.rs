//! Arithmetic with arguments of PyTorch's functions that operators do not have: `alpha`, `rounding_mode`; and `clamp`.

use crate::any::AnyTensor;
use crate::any::base::dispatch::refused;
use crate::any::base::operand::{AnyOperand, promoted, scalar_dtype};
use crate::any::elementwise::binary::{combine, combine_over, combined_strides};
use crate::any::elementwise::op_table::{BinaryRow, binary};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{Category, DType};
use crate::error::{Error, Result, invalid};
use castiron_macros::operations;

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

/// A result with the strides that the original operands give it, not the scaled ones.
fn laid_out(result: AnyTensor, row: &'static BinaryRow, input: &AnyOperand, other: &AnyOperand) -> Result<AnyTensor> {
    let strides = combined_strides(row, input, other)?;
    Ok(if *strides == *result.stride() { result } else { result.copied(&strides)? })
}

/// Differences are not defined for bool.
fn admits(op: &'static str, a: &AnyOperand, b: &AnyOperand) -> Result<()> {
    match [a.dtype(), b.dtype()].into_iter().find(|dtype| *dtype == DType::Bool) {
        Some(dtype) => Err(refused(op, dtype)),
        None => Ok(()),
    }
}

#[operations]
impl AnyTensor {
    /// Elements limited to at least `min` and at most `max`, where these are given (`torch.clamp`).
    ///
    /// # Errors
    /// If neither is given, the dtypes are not admitted, or shapes do not broadcast.
    #[op(clamp(input, min = None, max = None), dtypes = "all dtypes with an order", output = CastableBetweenTensors, aliases("clip"))]
    #[in_place("tensor![-5, 0, 5]" "Some((-1).into()), None" = "[-1, 0, 5]")]
    pub fn clamp(&self, min: Option<AnyOperand>, max: Option<AnyOperand>) -> Result<AnyTensor> {
        let op = "clamp";
        if let (Some(min), Some(max)) = (&min, &max)
            && [self.dtype, min.dtype(), max.dtype()] == [DType::Bool; 3]
        {
            return Err(refused(op, DType::Bool));
        }
        match (min, max) {
            (None, None) => invalid(op, "at least one of `min` and `max` is needed".to_owned()),
            (Some(min), None) => self.clamp_min(min),
            (None, Some(max)) => self.clamp_max(max),
            (Some(min), Some(max)) => combine_over(binary::clamp_max, self.clamp_min(min)?, &max),
        }
    }

    #[op(add(input, other, alpha = 1), dtypes = any, in_place, output = Castable)]
    fn add_scaled(input: AnyOperand, other: AnyOperand, alpha: ScalarValue) -> Result<AnyTensor> {
        let product = scaled("add", &input, other.clone(), alpha)?;
        laid_out(combine(binary::add, &input, &product)?, binary::add, &input, &other)
    }

    #[op(sub(input, other, alpha = 1), dtypes = numeric, in_place, output = Castable)]
    fn sub_scaled(input: AnyOperand, other: AnyOperand, alpha: ScalarValue) -> Result<AnyTensor> {
        admits("sub", &input, &other)?;
        let product = scaled("sub", &input, other.clone(), alpha)?;
        laid_out(combine(binary::sub, &input, &product)?, binary::sub, &input, &other)
    }

    #[op(rsub(input, other, alpha = 1), dtypes = numeric)]
    fn rsub_scaled(&self, other: AnyOperand, alpha: ScalarValue) -> Result<AnyTensor> {
        let input = AnyOperand::from(self);
        admits("rsub", &input, &other)?;
        let input = scaled("rsub", &other, input, alpha)?;
        combine(binary::sub, &other, &input)
    }

    #[op(div(input, other, rounding_mode = ""), dtypes = any, in_place, output = Castable, aliases("divide"))]
    fn div_rounded(input: AnyOperand, other: AnyOperand, rounding_mode: &str) -> Result<AnyTensor> {
        let row = match rounding_mode {
            "" => binary::div,
            "floor" => binary::floor_divide,
            "trunc" => binary::trunc_divide,
            other => return invalid("div", format!("rounding_mode is None, `floor` or `trunc`, got {other:?}")),
        };
        combine(row, &input, &other)
    }
}
