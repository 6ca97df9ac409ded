//! Formulas of special functions.

use super::*;
use crate::dtype::math;
use crate::dtype::{MachineFloat, Special, Unary};

/// Functions of real floating-point numbers only. All numbers take the fast path: its loops run by blocks whose operand and result are
/// known not to alias, which halves their considerable code size.
macro_rules! real_functions {
    ($($op:ident: |$x:ident| $real:expr;)*) => {$(
        impl Unary for $op {
            const HAS_FAST_PATH: bool = true;
            #[inline(always)]
            fn real<T: MachineFloat>($x: T) -> T {
                $real
            }
        }
    )*};
}
real_functions! {
    erf: |x| MachineFloat::erf(x);
    erfc: |x| T::elementary::<math::Erfc>(x);
    erfinv: |x| T::elementary::<math::Erfinv>(x);
    erfcx: |x| T::elementary::<math::Erfcx>(x);
    lgamma: |x| Special::lgamma(x);
    digamma: |x| x.digamma();
    entr: |x| entropy(x);
    ndtr: |x| T::lit(0.5) * (T::one() + MachineFloat::erf(x * T::FRAC_1_SQRT_2()));
    log_ndtr: |x| x.log_ndtr();
    i0: |x| ending(x, x.i0());
    i0e: |x| x.i0e();
    i1: |x| ending(x, x.i1());
    i1e: |x| x.i1e();
    modified_bessel_k0: |x| x.k0();
    modified_bessel_k1: |x| x.k1();
    scaled_modified_bessel_k0: |x| x.k0e();
    scaled_modified_bessel_k1: |x| x.k1e();
}

/// Infinite at 0 and 1, and NaN outside: integer inputs need no computation.
impl Unary for ndtri {
    const HAS_FAST_PATH: bool = true;
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
    if (x.abs() > end) & !value.is_nan() { T::infinity().copysign(value) } else { value }
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
