//! The gamma function and related functions.
//!
//! The logarithm and its derivative: near the roots, polynomials, to which numbers up to 8 are shifted; beyond, Stirling's series; below 0,
//! the reflection formula. Branch-free, so that loops vectorise. The rest follows PyTorch (`aten/src/ATen/native/Math.h`, after the Cephes
//! Math Library by S. Moshier, BSD-3-Clause).

// The shortest decimals that parse to the same bits.
#![allow(clippy::excessive_precision, clippy::unreadable_literal, clippy::approx_constant)]

use super::poly::{horner, pick};
use crate::dtype::MachineFloat;
use crate::dtype::math::{Log, Sin};

/// Stirling's series from here on.
const FAR: f64 = 8.0;

/// `sin(pi r)` for `abs(r) <= 1/2`. Largest error 2^-54.
#[inline(always)]
fn sin_pi<T: MachineFloat>(r: T) -> T {
    let z = r * r;
    r * horner!(z; 7.697826768224191e-07, -2.1903497074626018e-05, 0.0004662998161898394, -0.007370430505916944, 0.0821458865731029, -0.5992645293189447, 2.5501640398773007, -5.167712780049969, 3.141592653589793)
}
/// `cos(pi r)` for `abs(r) <= 1/2`.
#[inline(always)]
fn cos_pi<T: MachineFloat>(r: T) -> T {
    sin_pi(T::lit(0.5) - r.abs())
}

/// The signed distance to the nearest integer.
#[inline(always)]
fn off_whole<T: MachineFloat>(x: T) -> T {
    x - x.round_ties_even()
}

/// The logarithm of the absolute value of the gamma function.
#[inline(always)]
pub fn lgamma<T: MachineFloat>(given: T) -> T {
    lgamma_of(given.abs(), given < T::zero())
}

/// The same for a number of this size that is negative if `reflects`: without the steps of negative numbers where that is known not to be.
#[inline(always)]
pub(super) fn lgamma_of<T: MachineFloat>(size: T, reflects: bool) -> T {
    let (zero, one, two) = (T::zero(), T::one(), T::lit(2.0));
    // Gamma(x) Gamma(1 - x) = pi / sin(pi x)
    let x = pick(reflects, one + size, size);
    let sine = sin_pi(off_whole(size)).abs() * T::FRAC_1_PI();
    let near = x < T::lit(FAR);
    // Up to 8: x = y + whole, with an integer from -1 to 6 and y from 1 to 5/2, where the roots 1 and 2 are.
    let is_below = x < one;
    let whole = pick(is_below, -one, (x - T::lit(1.5)).floor().max(zero));
    let centre = (x - (whole + T::lit(1.75))) * T::lit(1.0 / 0.75);
    let polynomial = (x - (whole + one))
        * (x - (whole + two))
        * horner!(centre; 8.732367943389282e-11, -2.1107652109294608e-10, -3.489386830852245e-11, 8.0968768130305e-11, 1.313757348980119e-09, -3.1976862578204687e-09, 5.4105721946839366e-09, -1.3287284124524843e-08, 3.5151238753444235e-08, -8.670026143784667e-08, 2.1291112183034432e-07, -5.290318510629222e-07, 1.3210772937919835e-06, -3.3139398419759337e-06, 8.363500819840447e-06, -2.1263259366334995e-05, 5.4551226137119765e-05, -0.00014156848432233726, 0.0003729600093906354, -0.0010028956761924106, 0.0027768984548665683, -0.008038388459641289, 0.025042751549161676, -0.089611189968932, 0.4501393121092563);
    // The product of the factors in between; a single logarithm for all.
    let factor = |k: f64| pick(whole >= T::lit(k), x - T::lit(k), one);
    let above = (factor(1.0) * factor(2.0)) * (factor(3.0) * factor(4.0)) * (factor(5.0) * factor(6.0));
    let factors = pick(reflects, sine * above, pick(is_below, x, above));
    let log = T::elementary::<Log>(pick(near, factors, x));
    let near_value = pick(reflects, -polynomial - log, polynomial + pick(is_below, -log, log));
    let inverse = one / x;
    let z = inverse * inverse;
    let series = inverse
        * horner!(z; -0.020855820837454308, 0.00620813676622785, -0.001914965912162524, 0.0008417325268021446, -0.0005952380234290917, 0.0007936507935117104, -0.002777777777777659, 0.0833333333333333);
    let far_value = (x - T::lit(0.5)).mul_add(log - one, series + T::lit(0.4189385332046727));
    let far_value = pick(reflects, -T::elementary::<Log>(sine) - far_value, far_value);
    let value = pick(near, near_value, far_value);
    pick((size == T::infinity()) | (reflects & (sine == zero)), T::infinity(), value)
}

/// The logarithmic derivative of the gamma function for `x > 0`; at a zero, infinite with the opposite sign.
#[inline(always)]
fn digamma_positive<T: MachineFloat>(x: T) -> T {
    /// Its root, in two parts.
    const ROOT: (f64, f64) = (1.4616321449683622, 9.549995429965697e-17);
    let (zero, one) = (T::zero(), T::one());
    // Up to 8: x = y + whole, with an integer from -1 to 6 and y from 1 to 2; then the sum of 1 / (x - k) as a quotient.
    let whole = (x - one).floor().max(-one);
    let y = x - whole;
    let centre = y - T::lit(1.5);
    let polynomial = ((y - T::lit(ROOT.0)) - T::lit(ROOT.1))
        * horner!(centre; 0.00011881232908510335, -0.0001782188548855923, 9.653646261410062e-05, -0.00014480643368061614, 0.00032395945401345196, -0.00048595039220036254, 0.0006909255761282986, -0.0010364584817312839, 0.0015633696313653504, -0.0023454947397380833, 0.003518106563802472, -0.005279937255532708, 0.007927021796868154, -0.011908220105959716, 0.017907248317313294, -0.026975796659787055, 0.040760833940846085, -0.06192213327548831, 0.09498872445289039, -0.14840492305388092, 0.24054248424078697, -0.4236274212814606, 0.9510558760318328);
    let is_below = x < one;
    let mut above = pick(is_below, -one, zero);
    let mut below = pick(is_below, x, one);
    for k in [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(T::lit) {
        let (counts, term) = (whole >= k, x - k);
        above = pick(counts, above.mul_add(term, below), above);
        below = pick(counts, below * term, below);
    }
    let near_value = polynomial + above / below;
    let inverse = one / x;
    let z = inverse * inverse;
    let series = z
        * horner!(z; -0.2994253706265931, 0.08002337465394882, -0.02105106090804277, 0.007575459920368122, -0.004166665501516421, 0.003968253965999576, -0.008333333333331585, 0.08333333333333325);
    let far_value = T::elementary::<Log>(x) - T::lit(0.5) * inverse - series;
    pick(x < T::lit(FAR), near_value, far_value)
}

/// The logarithmic derivative of the gamma function; NaN at negative integers.
#[inline(always)]
pub fn digamma<T: MachineFloat>(x: T) -> T {
    let size = x.abs();
    let is_negative = x < T::zero();
    let value = digamma_positive(pick(is_negative, T::one() + size, x));
    // psi(x) = psi(1 - x) - pi / tan(pi x)
    let r = off_whole(size);
    let reflected = value + T::PI() * cos_pi(r) / sin_pi(r);
    let reflected = pick(r == T::zero(), T::nan(), reflected);
    pick(is_negative, reflected, value)
}

/// The derivative of `digamma`.
#[inline(always)]
pub fn trigamma<T: MachineFloat>(x: T) -> T {
    let (one, pi) = (T::one(), T::PI());
    let (mut x, mut sign, mut sum) = (x, one, T::zero());
    if x < T::lit(0.5) {
        sign = -one;
        let sine = T::elementary::<Sin>(pi * x);
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

/// `(2k)!` divided by the Bernoulli numbers, for the tail of the zeta function.
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
    // Half of the machine epsilon.
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
