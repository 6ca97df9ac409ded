//! Laws of promotion that hold for every member of a set of dtypes, so that generic code needs no where-clause for them.
//!
//! rustc knows of `E: Float` only what the bounds of `Float` say. Each trait here states a law for the dtypes for which the promotion table
//! makes it true: their promotion with dtypes that a program names. `With` is for operands of one kind, `Meet` for operands of any kinds,
//! and the columns for the other order of operands (`<bool as Promotable>::With<E>` is `E::WithBool`). If the table breaks a law, the impl
//! does not compile.

use super::Dtype;
use super::promote::{Columns, Promotable, Promotion, Same};
use ::half::{bf16, f16};
use num_complex::Complex;

/// Promoted with a bool, every dtype is itself.
pub trait BesideBool:
    Promotable<With<bool> = Self>
    + Promotable<Over<bool> = Self>
    + Promotable<Meet<bool> = Same<Self>>
    + Columns<WithBool = Self, OverBool = Self, MeetBool = Same<Self>>
{
}

/// Promoted with the dtype of its real part, every dtype is itself: `z / z.abs()` has the dtype of `z`.
pub trait BesideReal:
    Promotable<With<<Self as Promotable>::RealDtype> = Self>
    + Promotable<Meet<<Self as Promotable>::RealDtype> = Same<Self>>
    + Promotable<RealDtype: Promotable<With<Self> = Self>>
    + Promotable<RealDtype: Promotable<Meet<Self> = Same<Self>>>
{
}

/// Promoted with its `Inexact` (the result of `sqrt` and `/`), every dtype becomes that: `x * x.sqrt()` has the dtype of `x.sqrt()`.
pub trait BesideInexact:
    Promotable<With<<Self as Promotable>::Inexact> = <Self as Promotable>::Inexact>
    + Promotable<Meet<<Self as Promotable>::Inexact> = Same<<Self as Promotable>::Inexact>>
    + Promotable<Inexact: Promotable<With<Self> = <Self as Promotable>::Inexact>>
    + Promotable<Inexact: Promotable<Meet<Self> = Same<<Self as Promotable>::Inexact>>>
{
}

/// Promoted with its `Sum`, every dtype becomes that.
pub trait BesideSum:
    Promotable<With<<Self as Promotable>::Sum> = <Self as Promotable>::Sum>
    + Promotable<Sum: Promotable<With<Self> = <Self as Promotable>::Sum>>
{
}

/// The real part of a float or a complex number is a float: `z.abs().sum()` has the dtype of `z.abs()`.
pub trait RealIsFloat:
    Promotable<RealDtype: Promotable<Sum = <Self as Promotable>::RealDtype, Inexact = <Self as Promotable>::RealDtype>>
{
}

/// With an integer scalar on the left an integer keeps its dtype, where the dtype itself says so (see `BesideIntegers` for the others).
pub trait AfterIntegerScalar: Dtype + Columns<MeetI64: Promotion<Result<Self> = Self>> {}

/// With a float scalar on the left, a float or a complex number keeps its dtype: `where_(mask, 0.5, x)`.
pub trait AfterFloatScalar: Dtype + Columns<MeetF32: Promotion<Result<Self> = Self>> {}

/// Promoted with `Complex<f64>`, every dtype becomes that.
pub trait BesideComplexDouble:
    Promotable<With<Complex<f64>> = Complex<f64>> + Columns<WithC128 = Complex<f64>>
{
}

/// Promoted with `f64`, bools, integers and floats become `f64`.
pub trait BesideDouble: Promotable<With<f64> = f64> + Columns<WithF64 = f64> {}

/// Promoted with integers, floats and complex numbers are themselves.
pub trait BesideIntegers: Promotable<With<u8> = Self>
    + Promotable<With<i8> = Self>
    + Promotable<With<i16> = Self>
    + Promotable<With<i32> = Self>
    + Promotable<With<i64> = Self>
    + Promotable<Meet<u8> = Same<Self>>
    + Promotable<Meet<i8> = Same<Self>>
    + Promotable<Meet<i16> = Same<Self>>
    + Promotable<Meet<i32> = Same<Self>>
    + Promotable<Meet<i64> = Same<Self>>
    + Columns<WithU8 = Self, WithI8 = Self, WithI16 = Self, WithI32 = Self, WithI64 = Self>
    + Columns<MeetU8 = Same<Self>, MeetI8 = Same<Self>, MeetI16 = Same<Self>, MeetI32 = Same<Self>, MeetI64 = Same<Self>>
{
}

/// Promoted with `i64`, bools and integers become `i64`; promoted with a float or a complex number, they become its dtype.
pub trait BesideHigher:
    Promotable<With<i64> = i64>
    + Promotable<With<f16> = f16>
    + Promotable<With<bf16> = bf16>
    + Promotable<With<f32> = f32>
    + Promotable<With<Complex<f16>> = Complex<f16>>
    + Promotable<With<Complex<f32>> = Complex<f32>>
    + Promotable<Meet<f16> = Same<f16>>
    + Promotable<Meet<bf16> = Same<bf16>>
    + Promotable<Meet<f32> = Same<f32>>
    + Promotable<Meet<f64> = Same<f64>>
    + Promotable<Meet<Complex<f16>> = Same<Complex<f16>>>
    + Promotable<Meet<Complex<f32>> = Same<Complex<f32>>>
    + Promotable<Meet<Complex<f64>> = Same<Complex<f64>>>
    + Columns<WithI64 = i64, WithF16 = f16, WithBF16 = bf16, WithF32 = f32>
    + Columns<WithC32 = Complex<f16>, WithC64 = Complex<f32>>
    + Columns<MeetF16 = Same<f16>, MeetBF16 = Same<bf16>, MeetF32 = Same<f32>, MeetF64 = Same<f64>>
    + Columns<MeetC32 = Same<Complex<f16>>, MeetC64 = Same<Complex<f32>>, MeetC128 = Same<Complex<f64>>>
{
}

/// `Bits: BesideHigher` writes `impl BesideHigher for bool {}` and so on, for each dtype in the set.
macro_rules! laws {
    ($($set:ident: $($law:ident)+;)*) => {$($($crate::__dtypes!($set {law} $law);)+)*};
}
macro_rules! law {
    ($law:ident $($member:ty),*) => {$(impl $law for $member {})*};
}
laws! {
    Dtype: BesideBool BesideReal BesideInexact BesideSum BesideComplexDouble;
    Ordered: BesideDouble;
    Bits: BesideHigher;
    Integer: AfterIntegerScalar;
    Inexact: BesideIntegers RealIsFloat AfterFloatScalar;
}
