//! The gamma function's relatives.
//!
//! Sources: the Cephes Math Library (S. Moshier, BSD-3-Clause) in the form PyTorch has it
//! (`aten/src/ATen/native/Math.h`).

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
const DIGAMMA: [f64; 7] = [
    8.33333333333333333333E-2,
    -2.10927960927960927961E-2,
    7.57575757575757575758E-3,
    -4.16666666666666666667E-3,
    3.96825396825396825397E-3,
    -8.33333333333333333333E-3,
    8.33333333333333333333E-2,
];

/// The logarithmic derivative of the gamma function.
pub fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    if x < 0.0 {
        if x == x.trunc() {
            return f64::NAN;
        }
        return digamma(1.0 - x) - PI / (PI * x.fract()).tan();
    }
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift -= 1.0 / x;
        x += 1.0;
    }
    if x == 10.0 {
        return shift + 2.251_752_589_066_721;
    }
    let tail = if x < 1e17 {
        let z = 1.0 / (x * x);
        z * super::polynomial(z, &DIGAMMA)
    } else {
        0.0
    };
    shift + x.ln() - 0.5 / x - tail
}

/// The derivative of `digamma`.
fn trigamma(x: f64) -> f64 {
    let (mut x, mut sign, mut sum) = (x, 1.0, 0.0);
    if x < 0.5 {
        sign = -1.0;
        let sine = (PI * x).sin();
        sum -= (PI * PI) / (sine * sine);
        x = 1.0 - x;
    }
    for _ in 0..6 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    sum += (1.0 + 1.0 / (2.0 * x) + z * (1.0 / 6.0 - z * (1.0 / 30.0 - z * (1.0 / 42.0)))) / x;
    sign * sum
}

/// The `n`-th derivative of `digamma`; `n` is a whole number that is not negative.
pub fn polygamma(x: f64, n: f64) -> f64 {
    if n == 0.0 {
        return digamma(x);
    }
    if n == 1.0 {
        return trigamma(x);
    }
    let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
    sign * libm::lgamma(n + 1.0).exp() * zeta(n + 1.0, x)
}

/// The logarithm of the multivariate gamma function of dimension `p`, a positive whole number.
pub fn mvlgamma(x: f64, p: f64) -> f64 {
    let mut sum = p * (p - 1.0) * 0.25 * PI.ln();
    let mut at = 0.0;
    while at < p {
        sum += libm::lgamma(x - at / 2.0);
        at += 1.0;
    }
    sum
}
