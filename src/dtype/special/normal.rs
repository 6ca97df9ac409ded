//! The error function's relatives.
//!
//! Sources: the Cephes Math Library (S. Moshier, BSD-3-Clause) for `ndtri` and PyTorch's
//! `aten/src/ATen/native/Math.h` for the starting values of `erfinv`; `musl`'s `erf` and `erfc`.

use super::Special;
use super::polynomial;
use crate::dtype::MachineFloat;
use crate::dtype::math::Erfc;

/// `ndtri` around one half, the highest power first; so are all below.
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

/// The inverse of the error function: a rational approximation and two steps of Newton's method.
pub fn erfinv<T: MachineFloat>(y: T) -> T {
    let one = T::one();
    let magnitude = y.abs();
    if magnitude > one || y.is_nan() {
        return T::nan();
    }
    if magnitude == one {
        return T::infinity().copysign(y);
    }
    let mut x = if magnitude <= T::lit(0.7) {
        let z = y * y;
        y * polynomial(z, &[-0.140543331, 0.914624893, -1.645349621, 0.886226899])
            / polynomial(z, &[0.012229801, -0.329097515, 1.442710462, -2.118377725, 1.0])
    } else {
        let z = (-((one - magnitude) / T::lit(2.0)).ln()).sqrt();
        polynomial(z, &[1.641345311, 3.429567803, -1.624906493, -1.970840454]).copysign(y)
            / polynomial(z, &[1.637067800, 3.543889200, 1.0])
    };
    for _ in 0..2 {
        x = x - (x.erf_of_library() - y) / (T::FRAC_2_SQRT_PI() * (-x * x).exp());
    }
    x
}

/// `exp(x * x) * erfc(x)`
pub fn erfcx<T: MachineFloat>(x: T) -> T {
    let half = T::lit(0.5);
    if x < T::lit(-26.7) {
        return T::infinity();
    }
    if x < T::lit(25.0) {
        // the square in two parts, so that its rounding does not grow in the exponential
        let square = x * x;
        let rest = x.mul_add(x, -square);
        let scale = square.exp();
        return (scale + scale * rest) * x.erfc_of_library();
    }
    if x > T::lit(5e7) {
        return half * T::FRAC_2_SQRT_PI() / x;
    }
    // the continued fraction, from its end
    let fraction = (1..=20).rev().fold(x, |below, k| x + half * T::lit(f64::from(k)) / below);
    half * T::FRAC_2_SQRT_PI() / fraction
}

/// The logarithm of `ndtr`.
pub fn log_ndtr<T: MachineFloat>(x: T) -> T {
    let (t, half) = (x * T::FRAC_1_SQRT_2(), T::lit(0.5));
    if x < -T::one() { ((-t).erfcx() * half).ln() - t * t } else { (-T::elementary::<Erfc>(t) * half).ln_1p() }
}

/// The inverse of `ndtr`.
pub fn ndtri<T: MachineFloat>(y: T) -> T {
    /// `exp(-2)`
    const TAIL: f64 = 0.135_335_283_236_612_7;
    let (zero, one, tail) = (T::zero(), T::one(), T::lit(TAIL));
    if y == zero {
        return T::neg_infinity();
    }
    if y == one {
        return T::infinity();
    }
    if !(y >= zero && y <= one) {
        return T::nan();
    }
    let (y, upper) = if y > T::lit(1.0 - TAIL) { (one - y, true) } else { (y, false) };
    if y > tail {
        let y = y - T::lit(0.5);
        let square = y * y;
        return (y + y * (square * polynomial(square, &P0) / polynomial(square, &Q0)))
            * T::lit(2.506_628_274_631_000_7);
    }
    let x = (T::lit(-2.0) * y.ln()).sqrt();
    let z = one / x;
    let correction = z * if x < T::lit(8.0) {
        polynomial(z, &P1) / polynomial(z, &Q1)
    } else {
        polynomial(z, &P2) / polynomial(z, &Q2)
    };
    let x = x - x.ln() / x - correction;
    if upper { x } else { -x }
}
