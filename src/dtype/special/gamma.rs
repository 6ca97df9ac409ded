//! The gamma function's relatives.
//!
//! Sources: the Cephes Math Library (S. Moshier, BSD-3-Clause) in the form PyTorch has it
//! (`aten/src/ATen/native/Math.h`).

use crate::dtype::MachineFloat;
use core::f64::consts::PI;

/// `(2k)!` over the Bernoulli numbers, for the tail of the zeta function.
const BERNOULLI: [f64; 12] = [
    12.0,
    -720.0,
    30240.0,
    -1209600.0,
    47900160.0,
    -1892437580.3183792,
    74724249600.0,
    -2950130727918.164,
    116467828143500.67,
    -4597978722407473.0,
    1.8152105401943546e+17,
    -7.166165256175667e+18,
];

/// The Hurwitz zeta function by the Euler-Maclaurin formula.
pub fn zeta(x: f64, q: f64) -> f64 {
    // half of what is usually called epsilon
    const UNIT: f64 = f64::EPSILON / 2.0;
    if x == 1.0 {
        return f64::INFINITY;
    }
    if x < 1.0 {
        return f64::NAN;
    }
    if q <= 0.0 {
        if q == q.floor() {
            return f64::INFINITY;
        }
        if x != x.floor() {
            return f64::NAN;
        }
    }
    let (mut sum, mut a, mut b, mut terms) = (q.powf(-x), q, 0.0, 0);
    while terms < 9 || a <= 9.0 {
        terms += 1;
        a += 1.0;
        b = a.powf(-x);
        sum += b;
        if -UNIT * sum < b && b < UNIT * sum {
            return sum;
        }
    }
    let w = a;
    sum += b * w / (x - 1.0);
    sum -= 0.5 * b;
    let (mut a, mut k) = (1.0, 0.0);
    for divisor in BERNOULLI {
        a *= x + k;
        b /= w;
        let term = a * b / divisor;
        sum += term;
        if (term / sum).abs() < UNIT {
            return sum;
        }
        k += 1.0;
        a *= x + k;
        b /= w;
        k += 1.0;
    }
    sum
}

/// The asymptotic series of the digamma function, the highest power first.
const DIGAMMA: [f64; 7] =
    [1.0 / 12.0, -691.0 / 32760.0, 1.0 / 132.0, -1.0 / 240.0, 1.0 / 252.0, -1.0 / 120.0, 1.0 / 12.0];

/// The logarithmic derivative of the gamma function.
pub fn digamma<T: MachineFloat>(x: T) -> T {
    let (one, ten) = (T::one(), T::lit(10.0));
    if x == T::zero() {
        return T::infinity().copysign(-x);
    }
    if x < T::zero() {
        if x == x.trunc() {
            return T::nan();
        }
        let part = x.fract().to_f64().unwrap_or(f64::NAN);
        return digamma(one - x) - T::lit(PI / (PI * part).tan());
    }
    let (mut x, mut shift) = (x, T::zero());
    while x < ten {
        shift = shift - one / x;
        x = x + one;
    }
    if x == ten {
        return shift + T::lit(2.251_752_589_066_721);
    }
    let tail = if x < T::lit(1e17) {
        let z = one / (x * x);
        z * super::polynomial(z, &DIGAMMA)
    } else {
        T::zero()
    };
    shift + x.ln() - T::lit(0.5) / x - tail
}

/// The derivative of `digamma`.
pub fn trigamma<T: MachineFloat>(x: T) -> T {
    let (one, pi) = (T::one(), T::PI());
    let (mut x, mut sign, mut sum) = (x, one, T::zero());
    if x < T::lit(0.5) {
        sign = -one;
        let sine = (pi * x).sin();
        sum = sum - (pi * pi) / (sine * sine);
        x = one - x;
    }
    for _ in 0..6 {
        sum = sum + one / (x * x);
        x = x + one;
    }
    let z = one / (x * x);
    let tail = T::lit(1.0 / 6.0) - z * (T::lit(1.0 / 30.0) - z * T::lit(1.0 / 42.0));
    sum = sum + (one + one / (T::lit(2.0) * x) + z * tail) / x;
    sign * sum
}
