//! Formulas of special functions.
//!
//! Uses `dtype::special`; used by the kernels.

use super::*;
use crate::dtype::math;
use crate::dtype::{MachineFloat, Special, Unary};

/// Functions of real floating-point numbers only. All numbers take the fast path: loops by blocks, in which operand and result are
/// known to be apart, are half as much code as others, of which there is much.
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

/// Infinite at both ends of its range, and nothing beyond them: where all numbers are there, as integers are, nothing is computed.
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

/// Functions with waves, whose angle needs no full range reduction on the fast path: they take it from the first number to the
/// second.
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

/// Infinite where `exp` is, as PyTorch has it; the value is so only a little later. At the infinities it is NaN, and stays that.
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
