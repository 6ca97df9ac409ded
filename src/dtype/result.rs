//! Promotion at run time: `promote_types`, `can_cast`, `result_type`.
//!
//! The computing dtypes are looked up in the matrix from which the types are generated. For shell dtypes these functions return PyTorch's
//! answer, although types and arithmetic reject them.
//!
//! Source: `c10/core/ScalarType.cpp`, `promoteTypes`; `aten/src/ATen/native/TypeProperties.cpp`, `result_type`;
//! `tests/oracle/promotion.json`.

use super::default::{default_complex_dtype, default_dtype};
use super::scalar::KindRank;
use super::{Category, DType, Scalar, ScalarValue};
use crate::error::{Error, Result};
use crate::sealed::Sealed;

/// The smallest dtype that holds both (`torch.promote_types`); [`Promoted`](super::Promoted) is the same for types.
///
/// A shell dtype promotes with itself, and `uint16`, `uint32` and `uint64` with the computing floats, as in PyTorch. (Concatenated tensors
/// have that dtype; there is no arithmetic on shell dtypes.)
///
/// # Errors
/// [`Error::Promotion`] where promotion is not defined: other pairs with a shell dtype.
///
/// ```
/// use castiron::DType;
/// use castiron::dtype::promote_types;
/// assert_eq!(promote_types(DType::U8, DType::I8)?, DType::I16);
/// assert_eq!(promote_types(DType::BF16, DType::C32)?, DType::C64);
/// let error = promote_types(DType::U16, DType::I32).unwrap_err();
/// assert_eq!(error.to_string(), "promotion of uint16 and int32 is not defined: convert one of them first");
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn promote_types(a: DType, b: DType) -> Result<DType> {
    let wide_unsigned = |dtype| matches!(dtype, DType::U16 | DType::U32 | DType::U64);
    let float = |dtype: DType| dtype.is_floating_point() && !dtype.is_shell();
    match a.promote(b) {
        Some(promoted) => Ok(promoted),
        None if a == b => Ok(a),
        None if wide_unsigned(a) && float(b) => Ok(b),
        None if float(a) && wide_unsigned(b) => Ok(a),
        None => Err(Error::Promotion { lhs: a, rhs: b }),
    }
}

/// Whether a result of dtype `from` may be written to an output of dtype `to` (`torch.can_cast`);
/// [`CanCast`](super::CanCast) is the same for types.
///
/// ```
/// use castiron::DType;
/// use castiron::dtype::can_cast;
/// assert!(can_cast(DType::I64, DType::U8) && can_cast(DType::F64, DType::F16));
/// assert!(!can_cast(DType::F32, DType::I64) && !can_cast(DType::I64, DType::Bool));
/// ```
pub fn can_cast(from: DType, to: DType) -> bool {
    from.can_cast(to)
}

/// The properties of an operand that determine a result's dtype: its dtype, and whether it is a scalar, a zero-dim tensor or a tensor with
/// axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OperandType {
    /// The dtype. For a scalar, only its category counts.
    pub dtype: DType,
    /// Its kind.
    pub kind: KindRank,
}

impl OperandType {
    /// A tensor of this dtype and rank.
    pub const fn tensor(dtype: DType, rank: usize) -> Self {
        OperandType { dtype, kind: if rank == 0 { KindRank::ZeroDim } else { KindRank::Dimensioned } }
    }

    /// A scalar of the category of this dtype.
    pub const fn scalar(dtype: DType) -> Self {
        OperandType { dtype, kind: KindRank::Scalar }
    }
}

/// The operands of [`result_type`]: tensors, Rust scalars, [`ScalarValue`], [`OperandType`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no dtype and kind",
    label = "expected a tensor, a reference to one, a Rust scalar or an `OperandType`"
)]
pub trait ResultOperand: Sealed {
    /// Its dtype and kind.
    fn operand_type(&self) -> OperandType;
}
impl Sealed for OperandType {}
impl ResultOperand for OperandType {
    fn operand_type(&self) -> OperandType {
        *self
    }
}
impl ResultOperand for ScalarValue {
    fn operand_type(&self) -> OperandType {
        OperandType::scalar(self.dtype())
    }
}
impl<T: Scalar> ResultOperand for T {
    fn operand_type(&self) -> OperandType {
        self.value().operand_type()
    }
}

/// The result dtype of an operation on two operands (`torch.result_type`), which depends on their dtypes and kinds, never on values;
/// [`ResultType`](super::promote::ResultType) is the same for types.
///
/// A Rust scalar counts as `int64`, as the [default dtype](super::default_dtype) or as its complex dtype, by its category. For shell dtypes
/// the answer is PyTorch's, although there is no arithmetic on them.
///
/// # Errors
/// [`Error::Promotion`] where promotion is not defined, which only happens with shell dtypes.
///
/// ```
/// use castiron::dtype::{OperandType, result_type};
/// use castiron::{tensor, DType, Tensor};
/// let bytes = tensor![1, 2; u8];
/// assert_eq!(result_type(&bytes, 1000)?, DType::U8);
/// assert_eq!(result_type(&bytes, 0.5)?, DType::F32);
/// assert_eq!(result_type(&bytes, &Tensor::<f64, ()>::scalar(0.5))?, DType::F64);
/// assert_eq!(result_type(&bytes, OperandType::tensor(DType::I8, 1))?, DType::I16);
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn result_type(a: impl ResultOperand, b: impl ResultOperand) -> Result<DType> {
    // (With two operands there is a dtype.)
    Ok(result_type_of([a.operand_type(), b.operand_type()])?.unwrap_or_else(default_dtype))
}

/// The result dtype of an operation on any number of operands; `None` for no operands.
///
/// # Errors
/// As [`result_type`].
///
/// ```
/// use castiron::dtype::{OperandType, result_type_of};
/// use castiron::DType;
/// let operands = [OperandType::tensor(DType::U8, 1), OperandType::tensor(DType::F16, 0), OperandType::scalar(DType::C64)];
/// assert_eq!(result_type_of(operands)?, Some(DType::C32));
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn result_type_of(operands: impl IntoIterator<Item = OperandType>) -> Result<Option<DType>> {
    // Within a kind, dtypes are promoted.
    let mut kinds = [None::<DType>; 3];
    for OperandType { dtype, kind } in operands {
        let dtype = match kind {
            KindRank::Scalar => scalar_dtype(dtype),
            _ => dtype,
        };
        let of_kind = &mut kinds[kind as usize];
        *of_kind = Some(match *of_kind {
            None => dtype,
            Some(before) => promote_types(before, dtype)?,
        });
    }
    // Across kinds, the lower kind counts only by its category.
    let [scalars, zero_dim, dimensioned] = kinds;
    outrank(dimensioned, outrank(zero_dim, scalars)?)
}

/// The dtype that a scalar of this dtype's category counts as.
fn scalar_dtype(dtype: DType) -> DType {
    match dtype.category() {
        Category::Boolean => DType::Bool,
        Category::Integral => DType::I64,
        Category::Floating => default_dtype(),
        Category::Complex => default_complex_dtype(),
    }
}

/// The result dtype of a kind with those of lower kinds.
fn outrank(higher: Option<DType>, lower: Option<DType>) -> Result<Option<DType>> {
    let (Some(a), Some(b)) = (higher, lower) else { return Ok(higher.or(lower)) };
    if let Some(known) = a.promote_over(b) {
        return Ok(Some(known));
    }
    // One of them is a shell dtype.
    Ok(Some(match (a.category(), b.category()) {
        (Category::Floating, Category::Complex) => a.to_complex().ok_or(Error::Promotion { lhs: a, rhs: b })?,
        (Category::Boolean | Category::Integral, Category::Complex) => b,
        (Category::Boolean, _) | (Category::Integral, Category::Floating) => promote_types(a, b)?,
        _ => a,
    }))
}
