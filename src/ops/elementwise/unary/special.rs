//! Formulas of special functions.

use super::*;
use crate::dtype::math;
use crate::dtype::special::{Function, function};
use crate::dtype::{MachineFloat, Special, Unary};

/// The rows of special functions in the table of unary operations.
macro_rules! special_rows {
    ($reader:tt { $($rows:tt)* } $($files:ident)*) => {
        $crate::ops::table::joined! { $reader { $($rows)*
            erf { ordered inexact,
                "The error function.", "torch.erf`, `torch.special.erf",
                "tensor![0.0, 10.0]" = "[0.0, 1.0]" }
            erfc { ordered inexact,
                "The complementary error function `1 - erf(x)`, exact where it is small.", "torch.erfc`, `torch.special.erfc",
                "tensor![0.0, 100.0]" = "[1.0, 0.0]" }
            erfinv { ordered inexact,
                "The inverse of the error function; NaN beyond -1 and 1.", "torch.erfinv`, `torch.special.erfinv",
                "tensor![0.0, 1.0]" = "[0.0, f32::INFINITY]" }
            erfcx { ordered inexact,
                "The scaled complementary error function `exp(x * x) * erfc(x)`.", "torch.special.erfcx",
                "tensor![0.0]" = "[1.0]" }
            lgamma { ordered inexact,
                "The logarithm of the absolute value of the gamma function.", "torch.lgamma`, `torch.special.gammaln",
                "tensor![1.0, 0.0]" = "[0.0, f32::INFINITY]" }
            digamma { ordered inexact,
                "The derivative of the logarithm of the gamma function; NaN at negative integers.", "torch.digamma`, `torch.special.digamma`, `torch.special.psi",
                "tensor![0.0]" = "[f32::NEG_INFINITY]" }
            entr { ordered inexact,
                "`-x * log(x)`; 0 at zero, minus infinity below.", "torch.special.entr",
                "tensor![1.0, 0.0, -1.0]" = "[-0.0, 0.0, f32::NEG_INFINITY]" }
            ndtr { ordered inexact,
                "The area under the standard normal density to the left of each element.", "torch.special.ndtr",
                "tensor![0.0, 100.0]" = "[0.5, 1.0]" }
            ndtri { ordered inexact,
                "The inverse of `ndtr`; NaN outside 0 to 1.", "torch.special.ndtri",
                "tensor![0.5, 1.0]" = "[0.0, f32::INFINITY]" }
            log_ndtr { ordered inexact,
                "The logarithm of `ndtr`, exact where that is small.", "torch.special.log_ndtr",
                "tensor![100.0]" = "[-0.0]" }
            i0 { ordered inexact,
                "The modified Bessel function of the first kind of order 0.", "torch.i0`, `torch.special.i0",
                "tensor![0.0]" = "[1.0]" }
            i0e { ordered inexact,
                "`exp(-abs(x)) * i0(x)`.", "torch.special.i0e",
                "tensor![0.0]" = "[1.0]" }
            i1 { ordered inexact,
                "The modified Bessel function of the first kind of order 1.", "torch.special.i1",
                "tensor![0.0]" = "[0.0]" }
            i1e { ordered inexact,
                "`exp(-abs(x)) * i1(x)`.", "torch.special.i1e",
                "tensor![0.0]" = "[0.0]" }
            airy_ai { ordered inexact,
                "The Airy function `Ai`; NaN at the infinities.", "torch.special.airy_ai",
                "tensor![200.0]" = "[0.0]" }
            bessel_j0 { ordered inexact,
                "The Bessel function of the first kind of order 0.", "torch.special.bessel_j0",
                "tensor![0.0]" = "[1.0]" }
            bessel_j1 { ordered inexact,
                "The Bessel function of the first kind of order 1.", "torch.special.bessel_j1",
                "tensor![0.0]" = "[0.0]" }
            bessel_y0 { ordered inexact,
                "The Bessel function of the second kind of order 0; NaN below zero.", "torch.special.bessel_y0",
                "tensor![0.0]" = "[f32::NEG_INFINITY]" }
            bessel_y1 { ordered inexact,
                "The Bessel function of the second kind of order 1; NaN below zero.", "torch.special.bessel_y1",
                "tensor![0.0]" = "[f32::NEG_INFINITY]" }
            modified_bessel_i0 { ordered inexact,
                "The same function as `i0`.", "torch.special.modified_bessel_i0",
                "tensor![0.0]" = "[1.0]" }
            modified_bessel_i1 { ordered inexact,
                "The same function as `i1`.", "torch.special.modified_bessel_i1",
                "tensor![0.0]" = "[0.0]" }
            modified_bessel_k0 { ordered inexact,
                "The modified Bessel function of the second kind of order 0; NaN below zero.", "torch.special.modified_bessel_k0",
                "tensor![0.0]" = "[f32::INFINITY]" }
            modified_bessel_k1 { ordered inexact,
                "The modified Bessel function of the second kind of order 1; NaN below zero.", "torch.special.modified_bessel_k1",
                "tensor![0.0]" = "[f32::INFINITY]" }
            scaled_modified_bessel_k0 { ordered inexact,
                "`exp(x) * modified_bessel_k0(x)`.", "torch.special.scaled_modified_bessel_k0",
                "tensor![0.0]" = "[f32::INFINITY]" }
            scaled_modified_bessel_k1 { ordered inexact,
                "`exp(x) * modified_bessel_k1(x)`.", "torch.special.scaled_modified_bessel_k1",
                "tensor![0.0]" = "[f32::INFINITY]" }
            spherical_bessel_j0 { ordered inexact,
                "The spherical Bessel function of the first kind of order 0, `sin(x) / x`.", "torch.special.spherical_bessel_j0",
                "tensor![0.0]" = "[1.0]" }
        } $($files)* }
    };
}
pub(crate) use special_rows;

/// Functions of real floating-point numbers only. All numbers take the fast path: its loops run by blocks whose operand and result are
/// known not to alias, which halves their considerable code size. The derivative is `slope` at the operand, or `from` the result, or that of
/// the formula.
macro_rules! real_functions {
    ($($op:ident: |$x:ident| $real:expr $(, slope |$y:ident| $slope:expr)? $(, from |$z:ident| $from:expr)?;)*) => {$(
        impl Unary for $op {
            const HAS_FAST_PATH: bool = true;
            const IS_ALWAYS_FAST: bool = true;
            const DERIVATIVE_HAS_FAST_PATH: bool = Self::DERIVATIVE_READS[0] == 1;
            $(
                const DERIVATIVE_READS: [u32; 3] = [8; 3];
                #[inline(always)]
                fn derivative<T: MachineFloat>(_: T, $z: T) -> T {
                    $from
                }
            )?
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
real_functions! {
    erf: |x| MachineFloat::erf(x);
    erfc: |x| T::elementary::<math::Erfc>(x);
    erfinv: |x| T::elementary::<math::Erfinv>(x), from |y| <math::Erfinv as math::Elementary>::derivative(y, y);
    erfcx: |x| T::elementary::<math::Erfcx>(x);
    lgamma: |x| Special::lgamma(x);
    digamma: |x| x.digamma();
    entr: |x| entropy(x), slope |x| -T::one() - T::elementary::<math::Log>(x);
    ndtr: |x| T::lit(0.5) * (T::one() + MachineFloat::erf(x * T::FRAC_1_SQRT_2())),
        slope |x| T::elementary::<math::Exp>(x * x * T::lit(-0.5)) * T::FRAC_1_SQRT_2() * T::FRAC_2_SQRT_PI() * T::lit(0.5);
    log_ndtr: |x| x.log_ndtr();
    i0: |x| ending(x, x.i0()), slope |x| <i1 as Unary>::real(x);
    i0e: |x| x.i0e();
    i1: |x| ending(x, x.i1()),
        slope |x| if x == T::zero() { T::lit(0.5) } else { <i0 as Unary>::real(x) - <i1 as Unary>::real(x) / x };
    i1e: |x| x.i1e();
    modified_bessel_k0: |x| x.k0();
    modified_bessel_k1: |x| x.k1();
    scaled_modified_bessel_k0: |x| x.k0e();
    scaled_modified_bessel_k1: |x| x.k1e();
}

/// Infinite at 0 and 1, and NaN outside: integer inputs need no computation.
impl Unary for ndtri {
    const HAS_FAST_PATH: bool = true;
    const DERIVATIVE_READS: [u32; 3] = [8; 3];
    #[inline(always)]
    fn derivative<T: MachineFloat>(_x: T, y: T) -> T {
        <function::ndtri as Function>::derivative(y, y)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x.ndtri()
    }
    #[inline(always)]
    fn takes_fast_path<T: MachineFloat>(x: T) -> bool {
        (x <= T::zero()) | (x >= T::one())
    }
    #[inline(always)]
    fn fast_path<T: MachineFloat>(x: T) -> T {
        let end = if x == T::one() { T::infinity() } else { T::nan() };
        if x == T::zero() { T::neg_infinity() } else { end }
    }
}

/// Oscillating functions. Arguments between the two given numbers take the fast path, without full range reduction of the angle.
macro_rules! waves {
    ($($op:ident: $all:ident $small:ident, $low:expr, $high:expr;)*) => {$(
        impl Unary for $op {
            const HAS_FAST_PATH: bool = true;
            #[inline(always)]
            fn fast_path<T: MachineFloat>(x: T) -> T {
                x.$small()
            }
            #[inline(always)]
            fn takes_fast_path<T: MachineFloat>(x: T) -> bool {
                x.is_nan() | ((x >= T::lit($low)) & (x <= T::lit($high)))
            }
            #[inline(always)]
            fn real<T: MachineFloat>(x: T) -> T {
                x.$all()
            }
        }
    )*};
}
waves! {
    airy_ai: airy_ai airy_ai_small, -500_000.0, f64::INFINITY;
    bessel_j0: bessel_j0 bessel_j0_small, -math::TRIG_LIMIT, math::TRIG_LIMIT;
    bessel_j1: bessel_j1 bessel_j1_small, -math::TRIG_LIMIT, math::TRIG_LIMIT;
    bessel_y0: bessel_y0 bessel_y0_small, -math::TRIG_LIMIT, math::TRIG_LIMIT;
    bessel_y1: bessel_y1 bessel_y1_small, -math::TRIG_LIMIT, math::TRIG_LIMIT;
    spherical_bessel_j0: spherical_j0 spherical_j0_small, -math::TRIG_LIMIT, math::TRIG_LIMIT;
}

/// Infinite where `exp` overflows, as in PyTorch, slightly before the function itself does. NaN at the infinities.
#[inline(always)]
fn ending<T: MachineFloat>(x: T, value: T) -> T {
    let end = T::elementary::<math::Log>(T::max_value());
    // (A product, which has a slope.)
    if (x.abs() > end) & !value.is_nan() { value * T::infinity() } else { value }
}

/// `-x * log(x)`
#[inline(always)]
fn entropy<T: MachineFloat>(x: T) -> T {
    if x.is_nan() {
        x
    } else if x > T::zero() {
        -x * T::elementary::<math::Log>(x)
    } else if x == T::zero() {
        T::zero()
    } else {
        T::neg_infinity()
    }
}
