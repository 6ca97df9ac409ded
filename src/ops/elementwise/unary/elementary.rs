//! Formulas of arithmetic, exponentials, logarithms, trigonometric and hyperbolic functions.

use super::super::complex;
use super::*;
use crate::dtype::math;
use crate::dtype::{MachineFloat, MachineInt, ToReal, Unary};
use num_complex::Complex;

impl ToReal for abs {
    const IS_EXACT: bool = true;
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        if x < T::zero() { x.wrapping_neg() } else { x }
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x.abs()
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> T {
        T::elementary_of_two::<math::Hypot>(z.re, z.im)
    }
}

impl Unary for neg {
    const IS_EXACT: bool = true;
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        x.wrapping_neg()
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        -x
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        -z
    }
}

impl Unary for square {
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        x.wrapping_mul(&x)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x * x
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        z * z
    }
}

/// Functions of floating-point and complex numbers. `exp: |x| x.exp(); |z| complex::exp(z);` writes `impl Unary for exp` with those two
/// formulas; `by lookup` permits devices to use lookup tables.
macro_rules! functions {
    ($($op:ident $(by $lookup:ident)?: |$x:ident| $real:expr; |$z:ident| $complex:expr;)*) => {$(
        impl Unary for $op {
            $(functions! { @by $lookup })?
            #[inline(always)]
            fn real<T: MachineFloat>($x: T) -> T {
                $real
            }
            #[inline(always)]
            fn complex<T: MachineFloat>($z: Complex<T>) -> Complex<T> {
                $complex
            }
        }
    )*};
    (@by lookup) => { const BY_LOOKUP: bool = true; };
}
functions! {
    exp: |x| T::elementary::<math::Exp>(x); |z| complex::exp(z);
    exp2: |x| T::elementary::<math::Exp2>(x); |z| complex::exp(z * T::LN_2());
    expm1: |x| T::elementary::<math::Expm1>(x); |z| complex::expm1(z);
    log by lookup: |x| T::elementary::<math::Log>(x); |z| complex::log(z);
    log2: |x| T::elementary::<math::Log2>(x); |z| complex::log(z) / T::LN_2();
    log10: |x| T::elementary::<math::Log10>(x); |z| complex::log(z) / T::LN_10();
    log1p: |x| T::elementary::<math::Log1p>(x); |z| complex::log1p(z);
    sqrt: |x| x.sqrt(); |z| complex::sqrt(z);
    rsqrt: |x| T::one() / x.sqrt(); |z| complex::reciprocal(complex::sqrt(z));
    reciprocal: |x| T::one() / x; |z| complex::reciprocal(z);
    asin: |x| T::elementary::<math::Asin>(x); |z| complex::asin(z);
    acos: |x| T::elementary::<math::Acos>(x); |z| complex::acos(z);
    atan: |x| T::elementary::<math::Atan>(x); |z| complex::atan(z);
    sinh: |x| T::elementary::<math::Sinh>(x); |z| complex::sinh(z);
    cosh: |x| T::elementary::<math::Cosh>(x); |z| complex::cosh(z);
    tanh: |x| T::elementary::<math::Tanh>(x); |z| complex::tanh(z);
    asinh: |x| T::elementary::<math::Asinh>(x); |z| complex::asinh(z);
    acosh: |x| T::elementary::<math::Acosh>(x); |z| complex::acosh(z);
    atanh: |x| T::elementary::<math::Atanh>(x); |z| complex::atanh(z);
}

/// Functions with a vectorised fast path for arguments that need no full range reduction.
macro_rules! periodic {
    ($($op:ident: $all:ident $small:ident, |$z:ident| $complex:expr;)*) => {$(
        impl Unary for $op {
            const HAS_FAST_PATH: bool = true;
            #[inline(always)]
            fn fast_path<T: MachineFloat>(x: T) -> T {
                T::elementary::<math::$small>(x)
            }
            #[inline(always)]
            fn takes_fast_path<T: MachineFloat>(x: T) -> bool {
                x.is_nan() | (x.abs() <= T::lit(math::TRIG_LIMIT))
            }
            #[inline(always)]
            fn real<T: MachineFloat>(x: T) -> T {
                T::elementary::<math::$all>(x)
            }
            #[inline(always)]
            fn complex<T: MachineFloat>($z: Complex<T>) -> Complex<T> {
                $complex
            }
        }
    )*};
}
periodic! {
    sin: Sin SinSmall, |z| complex::sin(z);
    cos: Cos CosSmall, |z| complex::cos(z);
    tan: Tan TanSmall, |z| complex::tan(z);
}

/// `sin(pi * x) / (pi * x)`, given the sine.
#[inline(always)]
fn sinc_of<T: MachineFloat>(x: T, sin: impl Fn(T) -> T) -> T {
    let angle = T::PI() * x;
    let value = sin(angle) / angle;
    if x == T::zero() { T::one() } else { value }
}
impl Unary for sinc {
    const HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn fast_path<T: MachineFloat>(x: T) -> T {
        sinc_of(x, T::elementary::<math::SinSmall>)
    }
    #[inline(always)]
    fn takes_fast_path<T: MachineFloat>(x: T) -> bool {
        x.is_nan() | (x.abs() <= T::lit(math::TRIG_LIMIT / 4.0))
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        sinc_of(x, T::elementary::<math::Sin>)
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::sinc(z)
    }
}

/// Functions of real floating-point numbers only.
macro_rules! real_functions {
    ($($op:ident: |$x:ident| $real:expr;)*) => {$(
        impl Unary for $op {
            #[inline(always)]
            fn real<T: MachineFloat>($x: T) -> T {
                $real
            }
        }
    )*};
}
pub(super) use real_functions;
real_functions! {
    deg2rad: |x| x * T::lit(core::f64::consts::PI / 180.0);
    rad2deg: |x| x * T::lit(180.0 / core::f64::consts::PI);
}

impl Unary for conj {
    #[inline(always)]
    fn boolean(x: bool) -> bool {
        x
    }
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        x
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        z.conj()
    }
}

/// Aliases of other operations.
macro_rules! aliases {
    ($($op:ident = $other:ident;)*) => {$(
        impl Unary for $op {
            #[inline(always)]
            fn boolean(x: bool) -> bool {
                <$other as Unary>::boolean(x)
            }
            #[inline(always)]
            fn integer<T: MachineInt>(x: T) -> T {
                <$other as Unary>::integer(x)
            }
            #[inline(always)]
            fn real<T: MachineFloat>(x: T) -> T {
                <$other as Unary>::real(x)
            }
            #[inline(always)]
            fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
                <$other as Unary>::complex(z)
            }
        }
    )*};
}
aliases! {
    conj_physical = conj;
    fix = trunc;
    modified_bessel_i0 = i0;
    modified_bessel_i1 = i1;
}

impl Unary for positive {
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        x
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        z
    }
}

impl ToReal for angle {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        if x < T::zero() {
            T::PI()
        } else if x.is_nan() {
            x
        } else {
            T::zero()
        }
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> T {
        T::elementary_of_two::<math::Atan2>(z.im, z.re)
    }
}
