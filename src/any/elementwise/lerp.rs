//! Operations of three operands, and those that make complex numbers.

use crate::any::base::by_width::{common_sizes, same_dtype, spread_together};
use crate::any::base::convert::widened;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::base::operand::{result_strides, same_device};
use crate::any::elementwise::binary::{combine, combine_over};
use crate::any::elementwise::chained::{Chain, factor};
use crate::any::elementwise::op_table::binary;
use crate::any::{AnyOperand, AnyTensor, checked_numel};
use crate::device::erased::Term;
use crate::device::{AnyDevice, Backend, Dynamic, DynamicBuffer};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{Category, DType, Dtype, Element, Float, Scalar};
use crate::error::{Error, Result};
use crate::ops::kernel::Map2;
use crate::ops::pointwise::{FromParts, FromPolar, Lerping, LerpingBy};
use castiron_macros::operations;

/// A result of broadcast operands; `make` gets them and the strides of the result.
fn blended<const N: usize>(
    op: &'static str,
    operands: [&AnyTensor; N],
    dtype: DType,
    make: impl FnOnce([&AnyTensor; N], &[usize]) -> Result<DynamicBuffer>,
) -> Result<AnyTensor> {
    for other in &operands[1..] {
        same_device(op, operands[0], other)?;
    }
    let sizes = common_sizes(op, operands)?;
    checked_numel(op, &sizes, dtype)?;
    let strides = result_strides(&sizes, &operands.map(|x| x.layout(x.dtype)));
    let buffer = make(spread_together(operands, &sizes)?.each_ref(), &strides)?;
    Ok(AnyTensor::fresh(buffer, dtype, &sizes, &strides))
}

#[operations]
impl AnyTensor {
    /// `self + weight * (end - self)` (`torch.lerp`): linear interpolation from `self` to `end`. All have one dtype; the weight is a
    /// tensor, a scalar, or a zero-dim tensor of any dtype.
    ///
    /// # Errors
    /// If dtypes differ or are neither floats nor complex, shapes do not broadcast, or the weight does not fit.
    #[op(lerp(input, end, weight), dtypes = inexact)]
    #[in_place("tensor![0.0, 10.0]" "&AnyTensor::from(tensor![4.0, 20.0]), 0.25" = "[1.0, 12.5]")]
    pub fn lerp(&self, end: &AnyTensor, weight: impl Into<AnyOperand>) -> Result<AnyTensor> {
        let (op, weight) = ("lerp", weight.into());
        same_dtype(op, self, end)?;
        let weight = match weight {
            // A weight with a gradient stays a tensor.
            AnyOperand::Array(weight) if weight.rank() == 0 && weight.is_recorded() => {
                AnyOperand::Array(weight.to(self.dtype)?)
            }
            weight => weight,
        };
        let refused = |value| Error::ScalarOutOfRange { op, value, dtype: self.dtype };
        crate::any::base::dispatch::dispatch_dtype!(op, self.dtype, E: Inexact => {
            let by = match &weight {
                AnyOperand::Number(value) => Some(*value),
                AnyOperand::Array(weight) if weight.rank() == 0 && weight.has_data() && !weight.is_recorded() => {
                    Some(weight.item()?)
                }
                AnyOperand::Array(weight) => {
                    same_dtype(op, self, weight)?;
                    return blended(op, [self, end, weight], self.dtype, |[start, end, weight], strides| {
                        let (start, end, weight) = (start.elements_as::<E>()?, end.elements_as::<E>()?, weight.elements_as::<E>()?);
                        Dynamic::map3::<E, E, E, E>(Lerping, start, end, weight, strides)
                    });
                }
            };
            let value = by.unwrap_or(ScalarValue::Int(0));
            if !self.dtype.is_complex() && matches!(value, ScalarValue::Complex(value) if value.im != 0.0) {
                return Err(refused(value));
            }
            let weight: <E as Dtype>::Compute = value.to_dtype().ok_or_else(|| refused(value))?;
            blended(op, [self, end], self.dtype, |[start, end], strides| {
                Dynamic::map2::<E, E, E>(LerpingBy(weight), start.elements_as()?, end.elements_as()?, strides)
            })
        })
    }

    /// `self + value * (a * b)` or `self + value * (a / b)`, in `f32` for halves; dtypes promote.
    pub(crate) fn plus(&self, term: Term, a: &AnyTensor, b: &AnyTensor, value: ScalarValue) -> Result<AnyTensor> {
        let (op, divides) = match term {
            Term::Product => ("addcmul", false),
            Term::Quotient => ("addcdiv", true),
        };
        let dtype = crate::any::join::cat_stack::promoted_all(op, &[self.clone(), a.clone(), b.clone()])?;
        if divides && [a, b].iter().all(|x| x.dtype.category() <= Category::Integral) {
            let reason = "integers are not divided here: convert one of the two to a float first".to_owned();
            return Err(Error::NotAdmitted { op, dtype: a.dtype, reason });
        }
        if dtype == DType::Bool || dtype.is_shell() {
            return Err(crate::any::base::dispatch::refused(op, dtype));
        }
        let wide = widened(dtype);
        let one = value.real_part() == 1.0;
        // For integers the factor is truncated.
        let value = self.scalar_on_device(op, value, wide)?;
        let row = if divides { binary::div } else { binary::mul };
        if self.device() == AnyDevice::CPU {
            let chain = Chain {
                op,
                dtype,
                common: dtype,
                first: (row, [a, b]),
                then: binary::add,
                x: self,
                // `add` multiplies its second operand by 1, which makes NaN of infinite complex parts; here PyTorch adds the parts
                // separately.
                by_parts: true,
                factors: [None, factor(value.item()?, wide), None],
            };
            if let Some(result) = chain.run()? {
                return Ok(result);
            }
        }
        // Operands are rounded to the common dtype first, although halves compute in `f32`.
        let operand = |x: &AnyTensor| x.to(dtype)?.to(wide);
        let [x, a, b] = [operand(self)?, operand(a)?, operand(b)?];
        let term = if one && !wide.is_complex() {
            combine(row, &a.into(), &b.into())?
        } else {
            combine_over(row, value.mul(&a)?, &b.into())?
        };
        if !wide.is_complex() {
            // The term comes second when layouts are compared, but if they are equal it may be overwritten.
            let alike = x.sizes == term.sizes && x.is_contiguous() && term.is_contiguous();
            let sum = if alike { combine_over(binary::add, term, &x.into())? } else { x.add(&term)? };
            return sum.to(dtype);
        }
        x.resolved()?.view_as_real()?.add(&term.resolved()?.view_as_real()?)?.contiguous()?.view_as_complex()?.to(dtype)
    }

    /// `self + value * a * b` (`torch.addcmul`). Dtypes promote.
    ///
    /// # Errors
    /// If all are bool, shapes do not broadcast, or the value does not fit.
    #[op(addcmul(input, tensor1, tensor2, value = 1), dtypes = numeric, output = Castable)]
    #[in_place("tensor![1, 2]" "&AnyTensor::from(tensor![2, 3]), &AnyTensor::from(tensor![4, 5]), 1" = "[9, 17]")]
    pub fn addcmul(&self, a: &AnyTensor, b: &AnyTensor, value: impl Scalar) -> Result<AnyTensor> {
        self.plus(Term::Product, a, b, value)
    }

    /// `self + value * a / b` (`torch.addcdiv`). Dtypes promote.
    ///
    /// # Errors
    /// If both `a` and `b` hold integers or bools, shapes do not broadcast, or the value does not fit.
    #[op(addcdiv(input, tensor1, tensor2, value = 1), dtypes = inexact, output = Castable)]
    #[in_place("tensor![1.0, 2.0]" "&AnyTensor::from(tensor![2.0, 3.0]), &AnyTensor::from(tensor![4.0, 2.0]), 2" = "[2.0, 5.0]")]
    pub fn addcdiv(&self, a: &AnyTensor, b: &AnyTensor, value: impl Scalar) -> Result<AnyTensor> {
        self.plus(Term::Quotient, a, b, value)
    }

    /// Complex numbers from real and imaginary parts (`torch.complex`). Both have one float dtype.
    ///
    /// # Errors
    /// If dtypes differ or have no complex counterpart, or shapes do not broadcast.
    #[op(complex(real, imag), dtypes = "float16, float32 and float64")]
    pub fn complex(&self, imag: &AnyTensor) -> Result<AnyTensor> {
        let op = "complex";
        same_dtype(op, self, imag)?;
        dispatch_dtype!(op, self.dtype, E: [crate::f16, f32, f64] => self.paired::<E, _>(op, imag, FromParts))
    }

    /// Complex numbers from magnitudes and angles (`torch.polar`). Both are `float32` or `float64`.
    ///
    /// # Errors
    /// If dtypes differ or are other ones, or shapes do not broadcast.
    #[op(polar(abs, angle), dtypes = "float32 and float64")]
    pub fn polar(&self, angle: &AnyTensor) -> Result<AnyTensor> {
        let op = "polar";
        same_dtype(op, self, angle)?;
        dispatch_dtype!(op, self.dtype, E: [f32, f64] => self.paired::<E, _>(op, angle, FromPolar))
    }

    /// Complex numbers by a kernel of two floats.
    fn paired<E: Float, K: Map2<E, E, E::Complex>>(
        &self,
        op: &'static str,
        other: &AnyTensor,
        kernel: K,
    ) -> Result<AnyTensor> {
        blended(op, [self, other], <E::Complex as Element>::DTYPE, |[a, b], strides| {
            Dynamic::map2::<E, E, E::Complex>(kernel, a.elements_as::<E>()?, b.elements_as::<E>()?, strides)
        })
    }
}
