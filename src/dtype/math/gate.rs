//! The smooth gates of neural networks.
//!
//! Uses exponentials and logarithms; nothing of this folder uses it. Like PyTorch's formulas, `x * gate(x)` is NaN at
//! negative infinity.

use super::exp::scaled;
use super::log::log1p_parts;
use super::real::{Real, fast_sum, pick, product, product2, quotient2, sum};

/// `1 / (1 + e^-(high + low))` as a number times 2^n; the caller has bounded the two parts. What has roundings to come asks
/// for the error of the division, too.
#[inline(always)]
fn gate<T: Real, const EXACT: bool>(high: T, low: T) -> (T, T) {
    let (zero, one) = (T::of(0.0), T::of(1.0));
    let negative = high < zero;
    // With e = e^-|x|: 1 / (1 + e), or e / (1 + e) with e scaled at the end, so that it underflows once.
    let e = scaled(pick(negative, high, -high), pick(negative, low, -low));
    let unit = T::power_of_two(pick(e.n < T::of(-64.0), T::of(-64.0), e.n));
    let (d, lost) = fast_sum(one, e.high * unit);
    let above = pick(negative, e.high, one);
    let r = above / d;
    // What the parts lost, over d.
    let inverse = pick(negative, one - r * unit, r);
    let more = pick(negative, e.low, zero) - r * (lost + e.low * unit);
    let (again, rest) = product(r, d);
    let more = if EXACT { ((above - again) - rest) + more } else { more };
    let correction = more * inverse;
    (r + correction, pick(negative, e.n, zero))
}

/// `1 / (1 + e^-x)`.
/// Measured: 1.21 ulp in f32, 1.00 in f64.
#[inline(always)]
pub(crate) fn sigmoid<T: Real>(x: T) -> T {
    let (value, n) = gate::<T, false>(x.bound(T::EXP_RANGE.0, -T::EXP_RANGE.0), T::of(0.0));
    value.scale(n)
}

/// `x / (1 + e^-x)`.
/// Measured: 1.49 ulp in f32, 1.40 in f64.
#[inline(always)]
pub(crate) fn silu<T: Real>(x: T) -> T {
    // x * e^x ends a little after e^x.
    let limit = T::EXP_RANGE.0 - T::of(10.0);
    let (value, n) = gate::<T, true>(x.bound(limit, -limit), T::of(0.0));
    let y = (pick(x < limit, limit, x) * value).scale(n);
    pick(x == T::of(f64::NEG_INFINITY), T::of(f64::NAN), y)
}

/// `ln(1 + e^x)`.
/// Measured: 1.47 ulp in f32, 1.20 in f64.
#[inline(always)]
pub(crate) fn softplus<T: Real>(x: T) -> T {
    let (zero, size) = (T::of(0.0), x.abs());
    let e = scaled(-size.bound(zero, -T::EXP_RANGE.0), zero).value();
    pick(x > zero, x, zero) + log1p_parts(e, zero, zero)
}

/// `x * tanh(softplus(x))`.
/// Measured: 1.46 ulp in f32, 1.27 in f64.
#[inline(always)]
pub(crate) fn mish<T: Real>(x: T) -> T {
    // tanh(softplus(x)) = n / (n + 2) with n = e^x (e^x + 2); 1 for x > 20.
    let two = T::of(2.0);
    let limit = T::EXP_RANGE.0 - T::of(10.0);
    let e = scaled(x.bound(limit, T::of(20.0)), T::of(0.0));
    // n as (high + low) * 2^k, and n + 2, each in two parts.
    let k = e.n;
    let (high, low) = product2((e.high, e.low), sum(two, e.high.scale(k)));
    let (d, lost) = sum(two, high.scale(k));
    let (high, low) = quotient2((high, low), (d, lost + low.scale(k)));
    let y = (pick(x < limit, limit, x) * (high + low)).scale(k);
    pick(x == T::of(f64::NEG_INFINITY), T::of(f64::NAN), y)
}

/// `x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))`, with these constants as real numbers.
/// Measured: 0.51 ulp in f32, 1.40 in f64.
#[inline(always)]
pub(crate) fn gelu_tanh<T: Real>(x: T) -> T {
    // It is x / (1 + e^-u) with u = x * (A + B x^2), and errors of u grow with u: u in two parts.
    const A: (f64, f64) = (1.595_769_121_605_730_8, -9.969_308_809_110_92e-17);
    const B: (f64, f64) = (0.071_354_816_272_600_25, -6.175_149_918_155_315e-19);
    let wide = x.wide();
    let y = wide.bound(-22.0, 22.0);
    let square = product(y, y);
    let cubic = product2(square, B);
    let (slope, lost) = sum(A.0, cubic.0);
    let u = product2((slope, lost + (A.1 + cubic.1)), (y, 0.0));
    let (value, n) = gate::<f64, true>(u.0, u.1);
    let value = (pick(wide < 0.0, y, wide) * value).scale(n);
    T::of(pick(wide == f64::NEG_INFINITY, f64::NAN, value))
}
