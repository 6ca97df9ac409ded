//! Kinds of operand (scalar < zero-dim < dimensioned) and the Rust values that serve as scalars.

use super::promote::Promotable;
use super::{Castable, DType, Dtype};
use crate::sealed::Sealed;
use ::half::{bf16, f16};
use num_complex::Complex;

/// Which of two operands' kinds outranks the other; selects the promotion function.
#[doc(hidden)]
pub trait KindOutcome {
    type Pick<A: Promotable, B: Promotable>: Dtype;
}
#[doc(hidden)]
pub struct SameKind;
#[doc(hidden)]
pub struct LeftOutranks;
#[doc(hidden)]
pub struct RightOutranks;
impl KindOutcome for SameKind {
    type Pick<A: Promotable, B: Promotable> = A::With<B>;
}
impl KindOutcome for LeftOutranks {
    type Pick<A: Promotable, B: Promotable> = A::Over<B>;
}
impl KindOutcome for RightOutranks {
    type Pick<A: Promotable, B: Promotable> = B::Over<A>;
}

/// The kind of an operand: [`Scalar`](ScalarKind), [`ZeroDim`] or [`Dimensioned`], lowest rank first.
pub trait Kind: Sealed + 'static {
    /// The kind as a value.
    const RANK: KindRank;
    #[doc(hidden)]
    type Meet<Right: Kind>: KindOutcome;
    #[doc(hidden)]
    type AfterScalar: KindOutcome;
    #[doc(hidden)]
    type AfterZeroDim: KindOutcome;
    #[doc(hidden)]
    type AfterDimensioned: KindOutcome;
}

/// The kind of a tensor. Its laws (a kind has the same rank as itself, and outranks scalars on either side) make mixed-dtype code that is
/// generic over the shape type-check.
pub trait TensorKind:
    Kind<Meet<Self> = SameKind> + Kind<Meet<ScalarKind> = LeftOutranks, AfterScalar = RightOutranks> + Sized
{
}

/// A kind as a value, lowest rank first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KindRank {
    /// a Rust scalar (PyTorch: a Python number)
    Scalar,
    /// a tensor of shape `()`
    ZeroDim,
    /// a tensor with at least one axis
    Dimensioned,
}

/// The kind of a Rust scalar.
#[derive(Clone, Copy, Debug)]
pub struct ScalarKind;
/// The kind of a tensor of shape `()`.
#[derive(Clone, Copy, Debug)]
pub struct ZeroDim;
/// The kind of a tensor with at least one axis.
#[derive(Clone, Copy, Debug)]
pub struct Dimensioned;

impl Sealed for ScalarKind {}
impl Sealed for ZeroDim {}
impl Sealed for Dimensioned {}
impl Sealed for ScalarValue {}
impl Kind for ScalarKind {
    const RANK: KindRank = KindRank::Scalar;
    type Meet<Right: Kind> = Right::AfterScalar;
    type AfterScalar = SameKind;
    type AfterZeroDim = LeftOutranks;
    type AfterDimensioned = LeftOutranks;
}
impl Kind for ZeroDim {
    const RANK: KindRank = KindRank::ZeroDim;
    type Meet<Right: Kind> = Right::AfterZeroDim;
    type AfterScalar = RightOutranks;
    type AfterZeroDim = SameKind;
    type AfterDimensioned = LeftOutranks;
}
impl Kind for Dimensioned {
    const RANK: KindRank = KindRank::Dimensioned;
    type Meet<Right: Kind> = Right::AfterDimensioned;
    type AfterScalar = RightOutranks;
    type AfterZeroDim = RightOutranks;
    type AfterDimensioned = SameKind;
}
impl TensorKind for ZeroDim {}
impl TensorKind for Dimensioned {}

/// The value of a scalar operand, by category (PyTorch: a Python bool, int, float or complex).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScalarValue {
    /// boolean
    Bool(bool),
    /// integral
    Int(i128),
    /// floating
    Float(f64),
    /// complex
    Complex(Complex<f64>),
}

impl ScalarValue {
    /// The dtype that the scalar counts as in promotion: `bool`, `int64`, the default float or its complex dtype.
    pub const fn dtype(self) -> DType {
        match self {
            ScalarValue::Bool(_) => DType::Bool,
            ScalarValue::Int(_) => DType::I64,
            ScalarValue::Float(_) => DType::F32,
            ScalarValue::Complex(_) => DType::C64,
        }
    }

    /// The real part, rounded to `f64`.
    pub fn real_part(self) -> f64 {
        match self {
            ScalarValue::Bool(v) => v as u8 as f64,
            ScalarValue::Int(v) => v as f64,
            ScalarValue::Float(v) => v,
            ScalarValue::Complex(v) => v.re,
        }
    }

    /// The value as `C`, or `None` where an integer does not fit an integral `C`.
    ///
    /// The rule of PyTorch's `full`: for unsigned dtypes, a negative value whose magnitude fits wraps (`-1` is 255 in `u8`); values farther
    /// out of range are rejected.
    pub fn to_dtype<C: Castable>(self) -> Option<C> {
        Some(match self {
            ScalarValue::Bool(v) => C::from_bool(v),
            ScalarValue::Float(v) => C::from_f64(v),
            ScalarValue::Complex(v) => C::from_c128(v),
            ScalarValue::Int(v) => match C::DTYPE.int_range() {
                Some((min, max)) => {
                    let fits = v <= max && (v >= min || (min == 0 && -v <= max));
                    if !fits {
                        return None;
                    }
                    // Wrapping to 64 bits keeps the low bits, which suffice for narrower dtypes.
                    C::from_i64(v as i64)
                }
                None => match i64::try_from(v) {
                    Ok(v) => C::from_i64(v),
                    Err(_) => C::from_f64(v as f64),
                },
            },
        })
    }

    /// The value as an element to fill a tensor with, or `None` if it does not fit: out of range of an integral or floating dtype, NaN for
    /// an integral one, or with an imaginary part for a real one.
    ///
    /// Source: `c10/util/TypeCast.h`, `overflows`.
    pub fn to_element<C: Castable>(self) -> Option<C> {
        let real_fits = |v: f64| match (C::DTYPE.int_range(), C::DTYPE.finfo()) {
            (Some((min, max)), _) => v >= min as f64 && v <= max as f64,
            // `complex32` is checked like `complex64`: beyond its own range it holds infinity.
            _ if C::DTYPE == DType::C32 => !v.is_finite() || v.abs() <= f32::MAX as f64,
            // A format without signs has no zero either.
            (None, Some(info)) if v.is_finite() => {
                v.abs() <= info.max && (v >= info.smallest_normal || C::DTYPE.is_signed())
            }
            // Infinity fits if the format has one.
            (None, _) => v.is_nan() || C::from_f64(v).to_scalar().real_part().is_infinite(),
        };
        let fits = match self {
            // Every value is zero or nonzero.
            _ if C::DTYPE == DType::Bool => true,
            ScalarValue::Bool(_) => true,
            // The sign of an integer is never checked, nor is zero.
            ScalarValue::Int(v) => v == 0 || C::DTYPE.int_range().is_some() || real_fits((v as f64).abs()),
            ScalarValue::Float(v) => real_fits(v),
            ScalarValue::Complex(v) if C::DTYPE.is_complex() => real_fits(v.re) && real_fits(v.im),
            ScalarValue::Complex(v) => v.im == 0.0 && real_fits(v.re) && real_fits(v.im),
        };
        if fits { self.to_dtype() } else { None }
    }
}

impl core::fmt::Display for ScalarValue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            ScalarValue::Bool(v) => v.fmt(f),
            ScalarValue::Int(v) => v.fmt(f),
            ScalarValue::Float(v) => v.fmt(f),
            ScalarValue::Complex(v) => v.fmt(f),
        }
    }
}

/// A Rust value that operators take together with a tensor: every computing dtype, and the other integers.
///
/// Only its category counts in promotion, as with Python numbers in PyTorch: every float counts as `f32`,
/// every integer as `i64`.
///
/// ```
/// use castiron::tensor;
/// let pixels = tensor![0, 128, 255; u8];
/// let scaled = &pixels / 255.0;            // f32, as in PyTorch
/// assert_eq!(scaled.to_vec(), [0.0_f32, 128.0 / 255.0, 1.0]);
/// let shifted = &pixels + 1_i64;           // still u8: an integer scalar does not widen integers
/// assert_eq!(shifted.to_vec(), [1, 129, 0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar",
    label = "expected a Rust bool, integer, float or complex number"
)]
pub trait Scalar: sealed::Scalar + Copy + 'static {
    /// The dtype the scalar counts as.
    type Counts: Dtype;
    /// Its value.
    fn value(self) -> ScalarValue;
}

macro_rules! scalars {
    ($($ty:ty as $counts:ty: |$v:ident| $value:expr;)*) => {$(
        impl sealed::Scalar for $ty {}
        impl Scalar for $ty {
            type Counts = $counts;
            #[inline]
            fn value(self) -> ScalarValue {
                let $v = self;
                $value
            }
        }
    )*};
}
scalars! {
    bool as bool: |v| ScalarValue::Bool(v);
    u8 as i64: |v| ScalarValue::Int(v.into());
    i8 as i64: |v| ScalarValue::Int(v.into());
    i16 as i64: |v| ScalarValue::Int(v.into());
    i32 as i64: |v| ScalarValue::Int(v.into());
    i64 as i64: |v| ScalarValue::Int(v.into());
    u16 as i64: |v| ScalarValue::Int(v.into());
    u32 as i64: |v| ScalarValue::Int(v.into());
    u64 as i64: |v| ScalarValue::Int(v.into());
    usize as i64: |v| ScalarValue::Int(v as i128);
    isize as i64: |v| ScalarValue::Int(v as i128);
    f16 as f32: |v| ScalarValue::Float(v.into());
    bf16 as f32: |v| ScalarValue::Float(v.into());
    f32 as f32: |v| ScalarValue::Float(v.into());
    f64 as f32: |v| ScalarValue::Float(v);
    Complex<f16> as Complex<f32>: |v| ScalarValue::Complex(Complex::new(v.re.into(), v.im.into()));
    Complex<f32> as Complex<f32>: |v| ScalarValue::Complex(Complex::new(v.re.into(), v.im.into()));
    Complex<f64> as Complex<f32>: |v| ScalarValue::Complex(v);
}

mod sealed {
    pub trait Scalar: crate::sealed::Sealed {}
}
