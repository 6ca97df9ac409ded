//! Formulas: special functions.

use super::elementary::real_functions;
use super::*;
use crate::dtype::math;
use crate::dtype::{MachineFloat, Special, Unary};

real_functions! {
    erf: |x| MachineFloat::erf(x);
    erfc: |x| T::elementary::<math::Erfc>(x);
    erfinv: |x| x.erfinv();
    erfcx: |x| x.erfcx();
    lgamma: |x| Special::lgamma(x);
    digamma: |x| x.digamma();
    entr: |x| entropy(x);
    ndtr: |x| T::lit(0.5) * (T::one() + MachineFloat::erf(x * T::FRAC_1_SQRT_2()));
    ndtri: |x| x.ndtri();
    log_ndtr: |x| x.log_ndtr();
    i0: |x| x.abs().exp() * x.i0e();
    i0e: |x| x.i0e();
    i1: |x| x.abs().exp() * x.i1e();
    i1e: |x| x.i1e();
    airy_ai: |x| x.airy_ai();
    bessel_j0: |x| x.bessel_j0();
    bessel_j1: |x| x.bessel_j1();
    bessel_y0: |x| x.bessel_y0();
    bessel_y1: |x| x.bessel_y1();
    modified_bessel_k0: |x| x.k0();
    modified_bessel_k1: |x| x.k1();
    scaled_modified_bessel_k0: |x| x.k0e();
    scaled_modified_bessel_k1: |x| x.k1e();
    spherical_bessel_j0: |x| x.spherical_j0();
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
