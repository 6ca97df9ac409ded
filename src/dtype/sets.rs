//! Named sets of dtypes: the bounds of generic code for operations that exclude some dtypes.
//!
//! A set implies the laws that hold in it (a float keeps its dtype in `exp`, `sum` and `abs`), so generic code needs no where-clauses for
//! them.

use super::promote::{Promotable, Same};
use super::{Dtype, Element, laws};
use ::half::{bf16, f16};
use core::ops::{Add, Div, Mul, Neg, Sub};
use num_complex::Complex;

/// The dtypes of a set, written once: `__dtypes!(Bits {with} arguments)` writes `with! { arguments bool, u8, i8, i16, i32, i64 }`. A list
/// of dtypes, `[f32, f64]`, is a set, too.
#[doc(hidden)]
#[macro_export]
macro_rules! __dtypes {
    (Element $($then:tt)*) => { $crate::__dtypes! { @[] bools integers floats complexes shells packed; $($then)* } };
    (Castable $($then:tt)*) => { $crate::__dtypes! { @[] bools integers floats complexes shells; $($then)* } };
    (Dtype $($then:tt)*) => { $crate::__dtypes! { @[] bools integers floats complexes; $($then)* } };
    (Numeric $($then:tt)*) => { $crate::__dtypes! { @[] integers floats complexes; $($then)* } };
    (Ordered $($then:tt)*) => { $crate::__dtypes! { @[] bools integers floats; $($then)* } };
    (Real $($then:tt)*) => { $crate::__dtypes! { @[] integers floats; $($then)* } };
    (Bits $($then:tt)*) => { $crate::__dtypes! { @[] bools integers; $($then)* } };
    (Integer $($then:tt)*) => { $crate::__dtypes! { @[] integers; $($then)* } };
    (Inexact $($then:tt)*) => { $crate::__dtypes! { @[] floats complexes; $($then)* } };
    (Float $($then:tt)*) => { $crate::__dtypes! { @[] floats; $($then)* } };
    (ComplexFloat $($then:tt)*) => { $crate::__dtypes! { @[] complexes; $($then)* } };
    (Float8 $($then:tt)*) => { $crate::__dtypes! { @[] float8s; $($then)* } };
    (Small $($then:tt)*) => { $crate::__dtypes! { @[] halves float8s; $($then)* } };
    (Shell $($then:tt)*) => { $crate::__dtypes! { @[] shells packed; $($then)* } };
    ([$($ty:ty),+ $(,)?] $($then:tt)*) => { $crate::__dtypes! { @[$($ty,)+]; $($then)* } };

    (@[$($ty:ty,)*] bools $($rest:tt)*) => { $crate::__dtypes! { @[$($ty,)* bool,] $($rest)* } };
    (@[$($ty:ty,)*] integers $($rest:tt)*) => { $crate::__dtypes! { @[$($ty,)* u8, i8, i16, i32, i64,] $($rest)* } };
    (@[$($ty:ty,)*] floats $($rest:tt)*) => {
        $crate::__dtypes! { @[$($ty,)* $crate::f16, $crate::bf16, f32, f64,] $($rest)* }
    };
    (@[$($ty:ty,)*] complexes $($rest:tt)*) => {
        $crate::__dtypes! { @[$($ty,)* $crate::Complex<$crate::f16>, $crate::Complex<f32>, $crate::Complex<f64>,] $($rest)* }
    };
    (@[$($ty:ty,)*] shells $($rest:tt)*) => {
        $crate::__dtypes! { @[
            $($ty,)* u16, u32, u64,
        ] float8s $($rest)* }
    };
    (@[$($ty:ty,)*] float8s $($rest:tt)*) => {
        $crate::__dtypes! { @[
            $($ty,)* $crate::F8E4M3FN, $crate::F8E4M3FNUZ, $crate::F8E5M2, $crate::F8E5M2FNUZ, $crate::F8E8M0FNU,
        ] $($rest)* }
    };
    (@[$($ty:ty,)*] halves $($rest:tt)*) => { $crate::__dtypes! { @[$($ty,)* $crate::f16, $crate::bf16,] $($rest)* } };
    (@[$($ty:ty,)*] packed $($rest:tt)*) => { $crate::__dtypes! { @[$($ty,)* $crate::F4E2M1FNX2,] $($rest)* } };
    (@[$($ty:ty,)*]; {$($with:tt)*} $($arguments:tt)*) => { $($with)*! { $($arguments)* $($ty),* } };

    ($($other:tt)*) => {
        ::core::compile_error! {
            "there is no such set of dtypes: it is `Element`, `Dtype`, `Numeric`, `Ordered`, `Real`, `Bits`, `Integer`, `Inexact`, `Float` or `ComplexFloat`, or a list such as `[f32, f64]`"
        }
    };
}

/// The dtypes of numbers: all but `bool`. PyTorch rejects `-` and the rounding functions on bools.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not numeric",
    label = "needs a dtype other than `bool`",
    note = "to invert a mask use `!` or `logical_not`; to subtract masks use `^` or `logical_xor`; or cast with `.to::<i64>()`"
)]
pub trait Numeric: is::Numeric + Dtype + Promotable<Over<i64> = Self, Scalar: is::Numeric> {}

/// The ordered dtypes: all but the complex ones.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no order",
    label = "needs a dtype that is not complex",
    note = "compare `.abs()`, `.real()` or `.imag()`, or use `eq` and `ne`"
)]
pub trait Ordered:
    is::Ordered + Element<Real = Self> + Dtype<RealDtype = Self, Scalar: is::Ordered> + laws::BesideDouble + PartialOrd
{
}

/// The real numbers: integers and floats.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a real number",
    label = "needs an integer or floating-point dtype",
    note = "cast first, for example `.to::<f32>()`"
)]
pub trait Real: is::Real + Numeric + Ordered + Promotable<Scalar: is::Real> {
    /// The number as an `f64`, rounded if it is an integer beyond 2^53. The inverse is `E::from_f64`.
    ///
    /// ```
    /// use castiron::Real;
    /// fn mean<E: Real>(all: &[E]) -> f64 {
    ///     all.iter().map(|v| v.to_f64()).sum::<f64>() / all.len() as f64
    /// }
    /// assert_eq!(mean(&[1, 2]), 1.5);
    /// ```
    fn to_f64(self) -> f64 {
        self.cast()
    }
}

/// The dtypes with bitwise operations: `bool` and the integers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no bitwise operations",
    label = "needs `bool` or an integer dtype",
    note = "bitwise operations and shifts are defined for bool and integers only"
)]
pub trait Bits: is::Bits + Ordered + Dtype<Inexact = f32, Sum = i64, Scalar: is::Bits> + laws::BesideHigher {}

/// The integers.
#[diagnostic::on_unimplemented(message = "`{Self}` is not an integer", label = "needs u8, i8, i16, i32 or i64")]
pub trait Integer: is::Integer + Bits + Real + Promotable<Scalar: is::Integer> + laws::AfterIntegerScalar {}

/// The dtypes closed under division, `exp` and `mean`: floating and complex. Their scalars support `+ - * /`, also in generic code: see
/// [`Float`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither floating-point nor complex",
    label = "needs a floating-point or complex dtype",
    note = "cast first, for example `.to::<f32>()`"
)]
pub trait Inexact:
    is::Inexact
    + Numeric
    + Dtype<Inexact = Self, Sum = Self, Scalar: is::Inexact>
    + Promotable<Over<f32> = Self>
    + laws::BesideIntegers
    + laws::RealIsFloat
    + laws::AfterFloatScalar
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
}

/// The real floating-point dtypes: `f16`, `bf16`, `f32`, `f64`.
///
/// In generic code, scalars support `+ - * /`, comparisons, [`to_f64`](Real::to_f64), and `E::from_f64` for constants, which every dtype
/// has. (As in Rust, `v * 0.5` does not compile for a scalar `v: E`; `x * 0.5` for a tensor does.) Functions such as `exp` are methods of
/// tensors or of `f64`; with the feature `linalg` the scalars of [`RealField`](crate::RealField) have them, too.
///
/// ```
/// use castiron::{Float, f16};
/// fn decayed<E: Float>(v: E, by: E) -> E {
///     let decayed = v * (E::from_f64(1.0) - by);
///     if decayed > E::from_f64(0.5) { decayed } else { E::from_f64(decayed.to_f64().sqrt()) }
/// }
/// assert_eq!(decayed(2.0_f32, 0.5), 1.0);
/// assert_eq!(decayed(f16::from_f32(0.5), f16::from_f32(0.5)).to_f32(), 0.5);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a floating-point dtype",
    label = "needs f16, bf16, f32 or f64",
    note = "cast first, for example `.to::<f32>()`"
)]
pub trait Float: is::Float + Inexact + Real + Promotable<Scalar: is::Float> {
    /// The complex dtype with components of this dtype's size (`torch.dtype.to_complex`); `complex64` for `bfloat16`, which has none of its
    /// own.
    type Complex: ComplexFloat + Promotable<With<Self> = Self::Complex> + Promotable<Meet<Self> = Same<Self::Complex>>;
}

/// The complex dtypes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a complex dtype",
    label = "needs Complex<f16>, Complex<f32> or Complex<f64>",
    note = "real tensors have no imaginary part; cast first, for example `.to::<Complex<f32>>()`"
)]
pub trait ComplexFloat:
    is::ComplexFloat
    + Inexact
    + Element<Real: Float>
    + Promotable<RealDtype: Float, Scalar: is::ComplexFloat>
    + Promotable<Over<Complex<f32>> = Self>
{
}

/// Membership without laws. A set may not mention itself in its laws (rustc: "cycle detected"), but it says that the scalars of its dtypes
/// belong to it, too: `x - a` needs no clause for `E: Numeric` and `a: E`.
#[doc(hidden)]
pub mod is {
    use super::*;

    /// `Real` writes `pub trait Real: Dtype {}` and, for each of its dtypes, `impl Real for f32 {}`.
    macro_rules! sets {
        ($($set:ident)*) => {$(
            pub trait $set: Dtype {}
            $crate::__dtypes!($set {members} $set);
        )*};
    }
    macro_rules! members {
        ($set:ident $($member:ty),*) => {$(impl $set for $member {})*};
    }
    sets!(Numeric Ordered Real Bits Integer Inexact Float ComplexFloat);

    /// Asserts that the dtypes of a set fulfil its laws.
    macro_rules! laws {
        ($($set:ident)*) => {$($crate::__dtypes!($set {law} $set);)*};
    }
    macro_rules! law {
        ($set:ident $($member:ty),*) => {$(impl super::$set for $member {})*};
    }
    laws!(Numeric Ordered Real Bits Integer Inexact ComplexFloat);
}

macro_rules! floats {
    ($($member:ty => $complex:ty;)*) => {$(
        impl Float for $member {
            type Complex = $complex;
        }
    )*};
}
floats! {
    f16 => Complex<f16>;
    bf16 => Complex<f32>;
    f32 => Complex<f32>;
    f64 => Complex<f64>;
}
