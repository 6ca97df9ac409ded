//! Conversion between dtypes (`.to()`), and which results may be cast implicitly to which outputs (`+=`, `assign`,
//! `_into`).
//!
//! Sources: `tests/oracle/values.json` (cast, f8_encode, f8_decode), `tests/oracle/promotion.json` (can_cast); PyTorch, "Tensor
//! Attributes". Out-of-range floats convert as x86's truncating instructions do, as in PyTorch on x86, on every machine.

use super::category::{Category, NotAbove};
use super::half::SmallFloat;
use super::shell::*;
use super::table::types_of;
use super::{Element, F4E2M1FNX2};
use crate::sealed::Sealed;
use ::half::{bf16, f16};
use num_complex::Complex;

/// "A result of dtype `Self` may be cast to an output of dtype `To`" (`torch.can_cast`).
///
/// Every cast is allowed except to a lower category: floating to integral, any other to boolean, complex to real.
///
/// ```compile_fail,E0277
/// use castiron::tensor;
/// let mut counts = tensor![1, 2, 3];
/// counts *= 0.5; // result type `f32` can't be cast to the desired output type `i64`
/// ```
#[diagnostic::on_unimplemented(
    message = "result type `{Self}` can't be cast to the desired output type `{To}`",
    label = "the result is `{Self}`, the tensor written to holds `{To}`",
    note = "a result may only be cast to its own or a higher category: bool < integral < floating < complex",
    note = "make a new tensor, `let x = x / y`, or convert the result, `x.copy_from(&(…))`; integers are divided in place by `floor_divide_`",
    note = "in generic code `<A as Promotable>::With<B>` is `Promoted<A, B>`, the dtype of `a + b`, which may be above `A`: convert the operand, `a += b.to::<A>()`, or ask for it, `Promoted<A, B>: CanCast<A>`; a result with a float scalar keeps the dtype of `E: Float` or `E: Inexact`"
)]
pub trait CanCast<To>: Sealed {}

#[diagnostic::do_not_recommend]
impl<A: Element, B: Element> CanCast<B> for A where A::Category: NotAbove<B::Category> {}

/// Explicit conversion, possible wherever PyTorch's `.to(dtype)` is: between all dtypes except
/// `float4_e2m1fn_x2`, which converts only to itself.
///
/// Integers wrap, floats round to nearest even, `bool` is "not zero", and complex to real drops the imaginary part.
///
/// ```
/// use castiron::dtype::CastTo;
/// let wrapped: u8 = 300_i32.cast_to();
/// let rounded: castiron::bf16 = 1.2345_f32.cast_to();
/// assert_eq!((wrapped, rounded.to_f32()), (44, 1.234375));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be converted to `{To}`",
    label = "no conversion between these dtypes exists",
    note = "`float4_e2m1fn_x2` holds two packed values in a byte: PyTorch converts it only to itself; `.view_dtype::<u8>()` shows the bytes"
)]
pub trait CastTo<To>: Element {
    /// Converts one element.
    fn cast_to(self) -> To;
}

#[diagnostic::do_not_recommend]
impl<A: Castable, B: Castable> CastTo<B> for A {
    #[inline(always)]
    fn cast_to(self) -> B {
        self.cast()
    }
}
impl CastTo<F4E2M1FNX2> for F4E2M1FNX2 {
    #[inline(always)]
    fn cast_to(self) -> F4E2M1FNX2 {
        self
    }
}

/// The dtypes that convert: a source calls the one `from_` method whose type holds its values exactly, so that 21 x 21 conversions need
/// only 21 sources and 21 targets.
#[doc(hidden)]
pub trait Castable: Element {
    fn cast<T: Castable>(self) -> T;
    fn from_bool(v: bool) -> Self;
    fn from_i32(v: i32) -> Self;
    fn from_i64(v: i64) -> Self;
    fn from_u64(v: u64) -> Self;
    fn from_f32(v: f32) -> Self;
    fn from_f64(v: f64) -> Self;
    #[inline(always)]
    fn from_c64(v: Complex<f32>) -> Self {
        Self::from_f32(v.re)
    }
    #[inline(always)]
    fn from_c128(v: Complex<f64>) -> Self {
        Self::from_f64(v.re)
    }
}

/// Truncation like x86's `cvttsd2si`: the smallest integer if the value does not fit.
#[inline(always)]
fn trunc_i32(v: f64) -> i32 {
    let fits = v > -2_147_483_649.0 && v < 2_147_483_648.0;
    // SAFETY: the value is in range and not NaN. (`as` would check it again, which does not vectorise.)
    let truncated: i32 = unsafe { if fits { v } else { 0.0 }.to_int_unchecked() };
    if fits { truncated } else { i32::MIN }
}
/// `f32` to an integer, in vectors of its own width.
#[inline(always)]
fn trunc_i32_of_f32(v: f32) -> i32 {
    let fits = (-2_147_483_648.0..2_147_483_648.0).contains(&v);
    // SAFETY: as above.
    let truncated: i32 = unsafe { if fits { v } else { 0.0 }.to_int_unchecked() };
    if fits { truncated } else { i32::MIN }
}
#[inline(always)]
fn trunc_i64(v: f64) -> i64 {
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&v);
    // SAFETY: as above.
    let truncated: i64 = unsafe { if fits { v } else { 0.0 }.to_int_unchecked() };
    if fits { truncated } else { i64::MIN }
}
/// The unsigned form that compilers emit for x86: values from 2^63 up are shifted down first.
#[inline(always)]
fn trunc_u64(v: f64) -> u64 {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    if v >= TWO_63 { trunc_i64(v - TWO_63) as u64 ^ (1 << 63) } else { trunc_i64(v) as u64 }
}

impl Castable for bool {
    #[inline(always)]
    fn cast<T: Castable>(self) -> T {
        T::from_bool(self)
    }
    #[inline(always)]
    fn from_bool(v: bool) -> bool {
        v
    }
    #[inline(always)]
    fn from_i32(v: i32) -> bool {
        v != 0
    }
    #[inline(always)]
    fn from_i64(v: i64) -> bool {
        v != 0
    }
    #[inline(always)]
    fn from_u64(v: u64) -> bool {
        v != 0
    }
    #[inline(always)]
    fn from_f32(v: f32) -> bool {
        v != 0.0
    }
    #[inline(always)]
    fn from_f64(v: f64) -> bool {
        v != 0.0
    }
    #[inline(always)]
    fn from_c64(v: Complex<f32>) -> bool {
        v.re != 0.0 || v.im != 0.0
    }
    #[inline(always)]
    fn from_c128(v: Complex<f64>) -> bool {
        v.re != 0.0 || v.im != 0.0
    }
}

/// Integers: `$source($wide)` is the method that a source calls, `$trunc` converts floats.
macro_rules! integers {
    ($($ty:ty: $source:ident($wide:ty), $trunc:ident $(, $trunc_f32:ident)?;)*) => {$(
        impl Castable for $ty {
            #[inline(always)]
            fn cast<T: Castable>(self) -> T {
                T::$source(self as $wide)
            }
            #[inline(always)]
            fn from_bool(v: bool) -> $ty {
                v as $ty
            }
            #[inline(always)]
            fn from_i32(v: i32) -> $ty {
                v as $ty
            }
            #[inline(always)]
            fn from_i64(v: i64) -> $ty {
                v as $ty
            }
            #[inline(always)]
            fn from_u64(v: u64) -> $ty {
                v as $ty
            }
            #[inline(always)]
            fn from_f32(v: f32) -> $ty {
                integers!(@f32 v $trunc $($trunc_f32)?) as $ty
            }
            #[inline(always)]
            fn from_f64(v: f64) -> $ty {
                $trunc(v) as $ty
            }
        }
    )*};
    (@f32 $v:ident $trunc:ident) => { $trunc(f64::from($v)) };
    (@f32 $v:ident $trunc:ident $trunc_f32:ident) => { $trunc_f32($v) };
}
integers! {
    u8: from_i32(i32), trunc_i32, trunc_i32_of_f32;
    i8: from_i32(i32), trunc_i32, trunc_i32_of_f32;
    i16: from_i32(i32), trunc_i32, trunc_i32_of_f32;
    i32: from_i32(i32), trunc_i32, trunc_i32_of_f32;
    i64: from_i64(i64), trunc_i64;
    u16: from_i32(i32), trunc_i32, trunc_i32_of_f32;
    u32: from_i64(i64), trunc_i64;
    u64: from_u64(u64), trunc_u64;
}

macro_rules! machine_floats {
    ($($ty:ty: $source:ident;)*) => {$(
        impl Castable for $ty {
            #[inline(always)]
            fn cast<T: Castable>(self) -> T {
                T::$source(self)
            }
            #[inline(always)]
            fn from_bool(v: bool) -> $ty {
                v as u8 as $ty
            }
            #[inline(always)]
            fn from_i32(v: i32) -> $ty {
                v as $ty
            }
            #[inline(always)]
            fn from_i64(v: i64) -> $ty {
                v as $ty
            }
            #[inline(always)]
            fn from_u64(v: u64) -> $ty {
                v as $ty
            }
            #[inline(always)]
            fn from_f32(v: f32) -> $ty {
                v as $ty
            }
            #[inline(always)]
            fn from_f64(v: f64) -> $ty {
                v as $ty
            }
        }
    )*};
}
machine_floats! {
    f32: from_f32;
    f64: from_f64;
}

/// Small floats: all values are converted through `f32` (as in PyTorch's `c10::Half(float)` and similar), so wider values round twice.
macro_rules! small_floats {
    ($($ty:ty),*) => {$(
        impl Castable for $ty {
            #[inline(always)]
            fn cast<T: Castable>(self) -> T {
                // The identity does not go through `f32`; decided at compile time.
                if let Some(same) = (&self as &dyn core::any::Any).downcast_ref::<T>() {
                    return *same;
                }
                let value = self.widen();
                if Self::NAN_IS_ZERO && value.is_nan() && T::DTYPE.category() == Category::Integral {
                    return T::from_i32(0);
                }
                T::from_f32(value)
            }
            #[inline(always)]
            fn from_bool(v: bool) -> $ty {
                <$ty>::narrow(v as u8 as f32)
            }
            #[inline(always)]
            fn from_i32(v: i32) -> $ty {
                <$ty>::narrow(v as f32)
            }
            #[inline(always)]
            fn from_i64(v: i64) -> $ty {
                <$ty>::narrow(v as f32)
            }
            #[inline(always)]
            fn from_u64(v: u64) -> $ty {
                <$ty>::narrow(v as f32)
            }
            #[inline(always)]
            fn from_f32(v: f32) -> $ty {
                <$ty>::narrow(v)
            }
            #[inline(always)]
            fn from_f64(v: f64) -> $ty {
                <$ty>::narrow(v as f32)
            }
        }
    )*};
}
small_floats!(f16, bf16);
types_of!(float8s small_floats);

/// Complex dtypes: each part converts like its real dtype; real numbers get a zero imaginary part.
macro_rules! complex {
    ($($part:ty: |$v:ident| $source:expr;)*) => {$(
        impl Castable for Complex<$part> {
            #[inline(always)]
            fn cast<T: Castable>(self) -> T {
                let $v = self;
                $source
            }
            #[inline(always)]
            fn from_bool(v: bool) -> Self {
                Complex::new(Castable::from_bool(v), Default::default())
            }
            #[inline(always)]
            fn from_i32(v: i32) -> Self {
                Complex::new(Castable::from_i32(v), Default::default())
            }
            #[inline(always)]
            fn from_i64(v: i64) -> Self {
                Complex::new(Castable::from_i64(v), Default::default())
            }
            #[inline(always)]
            fn from_u64(v: u64) -> Self {
                Complex::new(Castable::from_u64(v), Default::default())
            }
            #[inline(always)]
            fn from_f32(v: f32) -> Self {
                Complex::new(Castable::from_f32(v), Default::default())
            }
            #[inline(always)]
            fn from_f64(v: f64) -> Self {
                Complex::new(Castable::from_f64(v), Default::default())
            }
            #[inline(always)]
            fn from_c64(v: Complex<f32>) -> Self {
                Complex::new(Castable::from_f32(v.re), Castable::from_f32(v.im))
            }
            #[inline(always)]
            fn from_c128(v: Complex<f64>) -> Self {
                Complex::new(Castable::from_f64(v.re), Castable::from_f64(v.im))
            }
        }
    )*};
}
complex! {
    f16: |v| T::from_c64(Complex::new(v.re.widen(), v.im.widen()));
    f32: |v| T::from_c64(v);
    f64: |v| T::from_c128(v);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Floats that fit are truncated; all others, including NaN and infinity, become the smallest integer. Tested around the limits.
    #[test]
    fn floats_are_truncated_where_they_fit() {
        let limit = f64::from(i32::MIN);
        let steps = [0.0, 0.25, 0.5, 0.999, 1.0, 1.5, 128.0, 256.0, 1e6];
        let near =
            [limit, -limit, 0.0].into_iter().flat_map(|at| steps.into_iter().flat_map(move |by| [at + by, at - by]));
        let all = near.chain([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -0.0, f64::MIN_POSITIVE, -1e-320]);
        for v in all {
            let expected = |v: f64| i32::try_from(v.trunc() as i128).ok().filter(|_| v.is_finite()).unwrap_or(i32::MIN);
            assert_eq!(trunc_i32(v), expected(v), "{v}");
            assert_eq!(trunc_i32_of_f32(v as f32), expected(f64::from(v as f32)), "{v}");
        }
    }
}
