//! The normal distribution's functions.
//!
//! Source of `ndtri`: the Cephes Math Library (S. Moshier, BSD-3-Clause); all its rational functions are computed, and one is selected.

use super::poly::{either, pick, polynomial};
use crate::dtype::MachineFloat;
use crate::dtype::math::{Erfc, Erfcx, Log, Log1p};

/// `ndtri` around one half, highest power first, as in all tables below.
const P0: [f64; 5] =
    [-59.96335010141079, 98.00107541859997, -56.67628574690703, 13.931260938727968, -1.2391658386738125];
/// Its denominator.
const Q0: [f64; 9] = [
    1.0,
    1.9544885833814176,
    4.676279128988815,
    86.36024213908905,
    -225.46268785411937,
    200.26021238006066,
    -82.03722561683334,
    15.90562251262117,
    -1.1833162112133,
];
/// `ndtri` where `sqrt(-2 log y)` is between 2 and 8.
const P1: [f64; 9] = [
    4.0554489230596245,
    31.525109459989388,
    57.16281922464213,
    44.08050738932008,
    14.684956192885803,
    2.1866330685079025,
    -0.1402560791713545,
    -0.03504246268278482,
    -0.0008574567851546854,
];
/// Its denominator.
const Q1: [f64; 9] = [
    1.0,
    15.779988325646675,
    45.39076351288792,
    41.3172038254672,
    15.04253856929075,
    2.504649462083094,
    -0.14218292285478779,
    -0.03808064076915783,
    -0.0009332594808954574,
];
/// `ndtri` where `sqrt(-2 log y)` is above 8.
const P2: [f64; 9] = [
    3.2377489177694603,
    6.915228890689842,
    3.9388102529247444,
    1.3330346081580755,
    0.20148538954917908,
    0.012371663481782003,
    0.00030158155350823543,
    2.6580697468673755e-06,
    6.239745391849833e-09,
];
/// Its denominator.
const Q2: [f64; 9] = [
    1.0,
    6.02427039364742,
    3.6798356385616087,
    1.3770209948908132,
    0.21623699359449663,
    0.013420400608854318,
    0.00032801446468212774,
    2.8924786474538068e-06,
    6.790194080099813e-09,
];

/// The logarithm of `ndtr`.
#[inline(always)]
pub fn log_ndtr<T: MachineFloat>(x: T) -> T {
    let (t, half) = (x * T::FRAC_1_SQRT_2(), T::lit(0.5));
    let left = T::elementary::<Log>(T::elementary::<Erfcx>(-t) * half) - t * t;
    let right = T::elementary::<Log1p>(-T::elementary::<Erfc>(t) * half);
    pick(x < -T::one(), left, right)
}

/// The inverse of `ndtr`.
#[inline(always)]
pub fn ndtri<T: MachineFloat>(y: T) -> T {
    /// `exp(-2)`
    const TAIL: f64 = 0.135_335_283_236_612_7;
    let (zero, one) = (T::zero(), T::one());
    let is_upper = y > T::lit(1.0 - TAIL);
    let tail = pick(is_upper, one - y, y);
    let centre = tail - T::lit(0.5);
    let square = centre * centre;
    let middle = (centre + centre * (square * polynomial(square, &P0) / polynomial(square, &Q0)))
        * T::lit(2.506_628_274_631_000_7);
    let x = (T::lit(-2.0) * T::elementary::<Log>(tail)).sqrt();
    let z = one / x;
    let is_wide = x < T::lit(8.0);
    let correction = z * either(is_wide, z, &P1, &P2) / either(is_wide, z, &Q1, &Q2);
    let x = x - T::elementary::<Log>(x) * z - correction;
    let value = pick(tail > T::lit(TAIL), middle, pick(is_upper, x, -x));
    let value = pick(y == zero, T::neg_infinity(), value);
    let value = pick(y == one, T::infinity(), value);
    pick((y >= zero) & (y <= one), value, T::nan())
}
