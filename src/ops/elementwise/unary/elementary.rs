//! Formulas of arithmetic, exponentials, logarithms, trigonometric and hyperbolic functions.

use super::super::complex;
use super::*;
use crate::dtype::math::{self, Elementary as _};
use crate::dtype::{MachineFloat, MachineInt, ToReal, Unary};
use crate::ops::slope::Simple;
use num_complex::Complex;

/// The rows of elementary functions in the table of unary operations.
macro_rules! elementary_rows {
    ($reader:tt { $($rows:tt)* } $($files:ident)*) => {
        $crate::ops::table::joined! { $reader { $($rows)*
            abs { numeric real_part,
                "The absolute value; the modulus of complex numbers.", "torch.abs`, `torch.absolute",
                "tensor![-1.5, 2.0]" = "[1.5, 2.0]" }
            neg { numeric same,
                "The negative. Integers wrap.", "torch.neg`, `torch.negative",
                "tensor![1, -2]" = "[-1, 2]", linear }
            square { any integer,
                "The square. Integers wrap; bools become `i64`.", "torch.square",
                "tensor![-3, 4]" = "[9, 16]" }
            exp { any inexact,
                "e raised to each element.", "torch.exp",
                "tensor![0.0, 1.0]" = "[1.0, std::f32::consts::E]" }
            log { any inexact,
                "The natural logarithm; NaN below zero.", "torch.log",
                "tensor![1.0, 0.0]" = "[0.0, f32::NEG_INFINITY]" }
            sqrt { any inexact,
                "The square root; NaN below zero.", "torch.sqrt",
                "tensor![4.0, 9.0]" = "[2.0, 3.0]" }
            rsqrt { any inexact,
                "One over the square root.", "torch.rsqrt",
                "tensor![4.0, 0.25]" = "[0.5, 2.0]" }
            reciprocal { any inexact,
                "One over each element.", "torch.reciprocal",
                "tensor![4.0, -2.0]" = "[0.25, -0.5]" }
            sin { any inexact,
                "The sine, of radians.", "torch.sin",
                "tensor![0.0]" = "[0.0]" }
            cos { any inexact,
                "The cosine, of radians.", "torch.cos",
                "tensor![0.0]" = "[1.0]" }
            tan { any inexact,
                "The tangent, of radians.", "torch.tan",
                "tensor![0.0]" = "[0.0]" }
            tanh { any inexact,
                "The hyperbolic tangent.", "torch.tanh`, `torch.nn.functional.tanh",
                "tensor![0.0, 100.0]" = "[0.0, 1.0]" }
            conj { any same,
                "The complex conjugate; real elements stay.", "torch.conj",
                "tensor![1.0 + 2.0j]" = "[castiron::Complex::new(1.0_f32, -2.0)]", marks_conjugates, linear }
            angle { any angle,
                "The angle of complex numbers in radians; of real ones 0, pi below zero, and NaN of NaN.", "torch.angle",
                "tensor![1.0, -1.0]" = "[0.0, std::f32::consts::PI]" }
            acos { any inexact,
                "The arc cosine, in radians; NaN beyond -1 and 1.", "torch.acos`, `torch.arccos",
                "tensor![1.0, -1.0]" = "[0.0, std::f32::consts::PI]" }
            acosh { any inexact,
                "The inverse hyperbolic cosine; NaN below 1.", "torch.acosh`, `torch.arccosh",
                "tensor![1.0]" = "[0.0]" }
            asin { any inexact,
                "The arc sine, in radians; NaN beyond -1 and 1.", "torch.asin`, `torch.arcsin",
                "tensor![0.0]" = "[0.0]" }
            asinh { any inexact,
                "The inverse hyperbolic sine.", "torch.asinh`, `torch.arcsinh",
                "tensor![0.0]" = "[0.0]" }
            atan { any inexact,
                "The arc tangent, in radians.", "torch.atan`, `torch.arctan",
                "tensor![0.0]" = "[0.0]" }
            atanh { any inexact,
                "The inverse hyperbolic tangent; NaN beyond -1 and 1.", "torch.atanh`, `torch.arctanh",
                "tensor![0.0, 1.0]" = "[0.0, f32::INFINITY]" }
            sinh { any inexact,
                "The hyperbolic sine.", "torch.sinh",
                "tensor![0.0]" = "[0.0]" }
            cosh { any inexact,
                "The hyperbolic cosine.", "torch.cosh",
                "tensor![0.0]" = "[1.0]" }
            exp2 { any inexact,
                "2 raised to each element.", "torch.exp2`, `torch.special.exp2",
                "tensor![3.0, -1.0]" = "[8.0, 0.5]" }
            expm1 { any inexact,
                "`exp(x) - 1`, exact near zero.", "torch.expm1`, `torch.special.expm1",
                "tensor![0.0, 1e-20]" = "[0.0, 1e-20]" }
            log2 { any inexact,
                "The logarithm to base 2; NaN below zero.", "torch.log2",
                "tensor![8.0, 0.0]" = "[3.0, f32::NEG_INFINITY]" }
            log10 { any inexact,
                "The logarithm to base 10; NaN below zero.", "torch.log10",
                "tensor![100.0, 0.0]" = "[2.0, f32::NEG_INFINITY]" }
            log1p { any inexact,
                "`log(1 + x)`, exact near zero; NaN below -1.", "torch.log1p`, `torch.special.log1p",
                "tensor![0.0, 1e-20]" = "[0.0, 1e-20]" }
            sinc { any inexact,
                "`sin(pi * x) / (pi * x)`; 1 at zero.", "torch.sinc`, `torch.special.sinc",
                "tensor![0.0]" = "[1.0]" }
            deg2rad { ordered inexact,
                "Degrees to radians.", "torch.deg2rad",
                "tensor![180.0]" = "[std::f32::consts::PI]", linear }
            rad2deg { ordered inexact,
                "Radians to degrees.", "torch.rad2deg",
                "tensor![std::f32::consts::PI]" = "[180.0]", linear }
            positive { numeric same,
                "The elements as they are. (PyTorch: `+x`.)", "torch.positive",
                "tensor![1, -2]" = "[1, -2]", keeps_reals, linear }
            conj_physical { any same,
                "The same function as [`conj`](crate::Tensor::conj).", "torch.conj_physical",
                "tensor![1.0 + 2.0j]" = "[castiron::Complex::new(1.0_f32, -2.0)]", keeps_reals, linear }
        } $($files)* }
    };
}
pub(crate) use elementary_rows;

impl ToReal for abs {
    const IS_EXACT: bool = true;
    const OF_BITS: Option<fn(u16) -> u16> = Some(|bits| bits & 0x7fff);
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
    /// 0 at 0.
    #[inline(always)]
    fn complex_gradient<T: MachineFloat>(z: Complex<T>, _y: Complex<T>, g: Complex<T>) -> Complex<T> {
        complex::direction(z) * g.re
    }
    /// The sign, which is 0 for NaN.
    #[inline(always)]
    fn derivative<T: MachineFloat>(x: T) -> T {
        <sign as Unary>::real(x)
    }
}

impl Unary for neg {
    const IS_EXACT: bool = true;
    const OF_BITS: Option<fn(u16) -> u16> = Some(|bits| bits ^ 0x8000);
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

/// Derivatives that are stated: `from |y| …; |y| …` by the result, of real and of complex numbers, and `at |z| …` of complex numbers by the
/// operand. Dual numbers would compute the function again.
macro_rules! stated {
    (from |$y:ident| $real:expr; |$z:ident| $complex:expr) => {
        const DERIVATIVE_READS: [u32; 3] = [8; 3];
        #[inline(always)]
        fn derivative<T: MachineFloat>(_: T, $y: T) -> T {
            $real
        }
        #[inline(always)]
        fn complex_gradient<T: MachineFloat>(_: Complex<T>, $z: Complex<T>, g: Complex<T>) -> Complex<T> {
            g * $complex.conj()
        }
    };
    (at |$z:ident| $complex:expr) => {
        #[inline(always)]
        fn complex_gradient<T: MachineFloat>($z: Complex<T>, _: Complex<T>, g: Complex<T>) -> Complex<T> {
            g * $complex.conj()
        }
    };
}
/// Functions of floating-point and complex numbers. `exp: |x| x.exp(); |z| complex::exp(z);` writes `impl Unary for exp` with those two
/// formulas; `by lookup` permits devices to use lookup tables, and after `=>` derivatives are [`stated`].
macro_rules! functions {
    ($($op:ident $(by $lookup:ident)?: |$x:ident| $real:expr; |$z:ident| $complex:expr $( => from |$y:ident| $slope:expr; |$w:ident| $complex_slope:expr)? $( => at |$v:ident| $at:expr)?;)*) => {$(
        impl Unary for $op {
            $(functions! { @by $lookup })?
            $(stated! { from |$y| $slope; |$w| $complex_slope })?
            $(stated! { at |$v| $at })?
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
    exp: |x| T::elementary::<math::Exp>(x); |z| complex::exp(z) => from |y| math::Exp::derivative(y, y); |y| complex::slope::exp(y, y);
    exp2: |x| T::elementary::<math::Exp2>(x); |z| complex::exp(z * T::LN_2()) => from |y| math::Exp2::derivative(y, y); |y| (y * T::LN_2());
    expm1: |x| T::elementary::<math::Expm1>(x); |z| complex::expm1(z) => from |y| math::Expm1::derivative(y, y); |y| complex::slope::expm1(y, y);
    log by lookup: |x| T::elementary::<math::Log>(x); |z| complex::log(z) => at |z| complex::slope::log(z, z);
    log2: |x| T::elementary::<math::Log2>(x); |z| complex::log(z) / T::LN_2() => at |z| (complex::slope::log(z, z) / T::LN_2());
    log10: |x| T::elementary::<math::Log10>(x); |z| complex::log(z) / T::LN_10() => at |z| (complex::slope::log(z, z) / T::LN_10());
    log1p: |x| T::elementary::<math::Log1p>(x); |z| complex::log1p(z) => at |z| complex::slope::log1p(z, z);
    sqrt: |x| x.sqrt(); |z| complex::sqrt(z) => from |y| T::one() / (y + y); |y| complex::slope::sqrt(y, y);
    rsqrt: |x| T::one() / x.sqrt(); |z| complex::reciprocal(complex::sqrt(z)) => from |y| y * y * y * T::lit(-0.5); |y| (y * y * y * T::lit(-0.5));
    reciprocal: |x| T::one() / x; |z| complex::reciprocal(z) => from |y| -(y * y); |y| (-(y * y));
    asin: |x| T::elementary::<math::Asin>(x); |z| complex::asin(z) => at |z| complex::slope::asinh(turned(z), z);
    acos: |x| T::elementary::<math::Acos>(x); |z| complex::acos(z) => at |z| complex::slope::acos(z, z);
    atan: |x| T::elementary::<math::Atan>(x); |z| complex::atan(z) => at |z| complex::slope::atanh(turned(z), z);
    sinh: |x| T::elementary::<math::Sinh>(x); |z| complex::sinh(z) => at |z| complex::slope::sinh(z, z);
    cosh: |x| T::elementary::<math::Cosh>(x); |z| complex::cosh(z) => at |z| complex::slope::cosh(z, z);
    tanh: |x| T::elementary::<math::Tanh>(x); |z| complex::tanh(z) => from |y| math::Tanh::derivative(y, y); |y| complex::slope::tanh(y, y);
    asinh: |x| T::elementary::<math::Asinh>(x); |z| complex::asinh(z) => at |z| complex::slope::asinh(z, z);
    acosh: |x| T::elementary::<math::Acosh>(x); |z| complex::acosh(z) => at |z| complex::slope::acosh(z, z);
    atanh: |x| T::elementary::<math::Atanh>(x); |z| complex::atanh(z) => at |z| complex::slope::atanh(z, z);
}

/// `i z`
#[inline(always)]
fn turned<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    Complex::new(-z.im, z.re)
}

/// Functions with a vectorised fast path for arguments that need no full range reduction. So do the derivatives of those that do not read
/// the result.
macro_rules! periodic {
    ($($op:ident: $all:ident $small:ident, |$z:ident| $complex:expr $( => from |$y:ident| $slope:expr; |$w:ident| $complex_slope:expr)? $( => at |$v:ident| $at:expr)?;)*) => {$(
        impl Unary for $op {
            const HAS_FAST_PATH: bool = true;
            const DERIVATIVE_HAS_FAST_PATH: bool = Self::DERIVATIVE_READS[0] == 1;
            $(stated! { from |$y| $slope; |$w| $complex_slope })?
            $(stated! { at |$v| $at })?
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
    sin: Sin SinSmall, |z| complex::sin(z) => at |z| complex::cos(z);
    cos: Cos CosSmall, |z| complex::cos(z) => at |z| (-complex::sin(z));
    tan: Tan TanSmall, |z| complex::tan(z) => from |y| math::Tan::derivative(y, y); |y| (y * y + T::one());
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
    const DERIVATIVE_HAS_FAST_PATH: bool = true;
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

/// Functions of real floating-point numbers only. `slope |x| …` is the derivative where dual numbers read another one than PyTorch's.
macro_rules! real_functions {
    ($($op:ident: |$x:ident| $real:expr $(, slope |$y:ident| $slope:expr)?;)*) => {$(
        impl Unary for $op {
            #[inline(always)]
            fn real<T: MachineFloat>($x: T) -> T {
                $real
            }
            $(
                #[inline(always)]
                fn derivative<T: MachineFloat>($y: T, _: T) -> T {
                    $slope
                }
            )?
        }
    )*};
}
pub(super) use real_functions;
real_functions! {
    deg2rad: |x| x * T::lit(core::f64::consts::PI / 180.0), slope |_x| T::lit(core::f64::consts::PI / 180.0);
    rad2deg: |x| x * T::lit(180.0 / core::f64::consts::PI), slope |_x| T::lit(180.0 / core::f64::consts::PI);
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
            const SIMPLE: Simple = <$other as Unary>::SIMPLE;
            const DERIVATIVE_READS: [u32; 3] = [if matches!(Self::SIMPLE, Simple::Flat) { 0 } else { 1 }; 3];
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
    #[inline(always)]
    fn derivative<T: MachineFloat>(_x: T) -> T {
        T::zero()
    }
    /// `i z / |z|^2`, 0 at 0.
    #[inline(always)]
    fn complex_gradient<T: MachineFloat>(z: Complex<T>, _y: Complex<T>, g: Complex<T>) -> Complex<T> {
        let square = z.re * z.re + z.im * z.im;
        let factor = if square == T::zero() { T::zero() } else { g.re / square };
        Complex::new(-z.im * factor, z.re * factor)
    }
}
