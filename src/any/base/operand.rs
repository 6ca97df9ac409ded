//! The other operand of an operation on an `AnyTensor`: a tensor or a scalar.

use crate::any::{AnyTensor, Dims};
use crate::device::{AnyDevice, Device};
use crate::dtype::scalar::{KindRank, ScalarValue};
use crate::dtype::{Complex, DType, Element, OperandType, ResultOperand, Scalar, bf16, f16};
use crate::error::{Error, Result};
use crate::layout::memory_format::{self, OperandLayout};
use crate::sealed::Sealed;
use crate::shape::{Shape, broadcast_sizes};
use crate::tensor::Tensor;

impl AnyTensor {
    /// The layout of an operand for the strides of a result: PyTorch converts operands to the common dtype before it compares layouts.
    pub(crate) fn layout(&self, common: DType) -> OperandLayout<'_> {
        (&self.sizes, &self.strides, self.dtype != common)
    }
}

/// The strides of a result of these operands.
pub(crate) fn result_strides(sizes: &[usize], operands: &[OperandLayout<'_>]) -> Dims {
    Dims::known(&memory_format::elementwise(sizes, operands))
}

/// Checks that operands are on one device, or one of them is zero-dim and on the CPU.
pub(crate) fn same_device(op: &'static str, a: &AnyTensor, b: &AnyTensor) -> Result<()> {
    let joins = |x: &AnyTensor| x.rank() == 0 && x.device() == AnyDevice::CPU;
    if a.device() == b.device() || joins(a) || joins(b) {
        return Ok(());
    }
    Err(Error::DevicesDiffer { op, lhs: a.device_name().to_owned(), rhs: b.device_name().to_owned() })
}

/// The sizes that two shapes broadcast to.
pub(crate) fn broadcast_to(op: &'static str, a: &[usize], b: &[usize]) -> Result<Dims> {
    let mut sizes = Dims::new(op, if a.len() > b.len() { a } else { b })?;
    if broadcast_sizes(a, b, &mut sizes) {
        Ok(sizes)
    } else {
        Err(Error::Broadcast { op, lhs: a.into(), rhs: b.into() })
    }
}

/// A tensor or a scalar, as operations take it: `x.add(&y)`, `x.add(1)`.
#[derive(Clone, Debug)]
pub enum AnyOperand {
    /// A tensor; O(1) to make.
    Array(AnyTensor),
    /// A scalar, which promotes as PyTorch's Python numbers do.
    Number(ScalarValue),
}

impl From<AnyTensor> for AnyOperand {
    fn from(tensor: AnyTensor) -> Self {
        AnyOperand::Array(tensor)
    }
}
impl From<&AnyTensor> for AnyOperand {
    fn from(tensor: &AnyTensor) -> Self {
        AnyOperand::Array(tensor.clone())
    }
}
impl<E: Element, S: Shape, D: Device> From<Tensor<E, S, D>> for AnyOperand {
    fn from(tensor: Tensor<E, S, D>) -> Self {
        AnyOperand::Array(tensor.into())
    }
}
impl<E: Element, S: Shape, D: Device> From<&Tensor<E, S, D>> for AnyOperand {
    fn from(tensor: &Tensor<E, S, D>) -> Self {
        AnyOperand::Array(tensor.into())
    }
}
impl From<ScalarValue> for AnyOperand {
    fn from(value: ScalarValue) -> Self {
        AnyOperand::Number(value)
    }
}
macro_rules! scalars {
    ($($ty:ty),*) => {$(
        impl From<$ty> for AnyOperand {
            fn from(value: $ty) -> Self {
                AnyOperand::Number(value.value())
            }
        }
    )*};
}
scalars!(
    bool,
    u8,
    i8,
    i16,
    i32,
    i64,
    u16,
    u32,
    u64,
    usize,
    isize,
    f16,
    bf16,
    f32,
    f64,
    Complex<f16>,
    Complex<f32>,
    Complex<f64>
);

/// The dtype of a float without one of its own.
pub(crate) fn default_float() -> DType {
    crate::dtype::default_dtype()
}

/// The dtype of a scalar in promotion.
pub(crate) fn scalar_dtype(value: ScalarValue) -> DType {
    match value {
        ScalarValue::Float(_) => default_float(),
        ScalarValue::Complex(_) => crate::dtype::default_complex_dtype(),
        _ => value.dtype(),
    }
}

impl AnyOperand {
    /// The dtype of the operand in promotion.
    pub(crate) fn dtype(&self) -> DType {
        match self {
            AnyOperand::Array(tensor) => tensor.dtype,
            AnyOperand::Number(value) => scalar_dtype(*value),
        }
    }

    /// Scalar, zero-dim or dimensioned, for promotion.
    pub(crate) fn kind(&self) -> KindRank {
        match self {
            AnyOperand::Number(_) => KindRank::Scalar,
            AnyOperand::Array(tensor) if tensor.rank() == 0 => KindRank::ZeroDim,
            AnyOperand::Array(_) => KindRank::Dimensioned,
        }
    }
}

/// The dtype that two operands promote to.
pub(crate) fn promoted(op: &'static str, [a, b]: [(KindRank, DType); 2]) -> Result<DType> {
    use core::cmp::Ordering;
    let promoted = match a.0.cmp(&b.0) {
        Ordering::Equal => a.1.promote(b.1),
        Ordering::Greater => a.1.promote_over(b.1),
        Ordering::Less => b.1.promote_over(a.1),
    };
    promoted.ok_or_else(|| {
        let (dtype, other) = if a.1.is_shell() { (a.1, b.1) } else { (b.1, a.1) };
        let reason = format!("promotion is not defined for it, beside {other}; cast first, for example to float32");
        Error::NotAdmitted { op, dtype, reason }
    })
}

impl Sealed for AnyOperand {}
impl Sealed for AnyTensor {}
impl ResultOperand for AnyOperand {
    fn operand_type(&self) -> OperandType {
        OperandType { dtype: self.dtype(), kind: self.kind() }
    }
}
impl ResultOperand for &AnyTensor {
    fn operand_type(&self) -> OperandType {
        OperandType::tensor(self.dtype, self.rank())
    }
}
