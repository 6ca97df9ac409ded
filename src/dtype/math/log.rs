//! Logarithms.
//!
//! The scheme is that of FreeBSD's e_log.c and s_log1p.c (Copyright (C) 1993 Sun Microsystems, freely granted), without its branches.

use super::real::{Real, pick};

/// The results for 0, negative numbers and infinity.
#[inline(always)]
fn edges<T: Real>(x: T, value: T) -> T {
    let value = pick(x < T::of(f64::INFINITY), value, x);
    let value = pick(x == T::of(0.0), T::of(f64::NEG_INFINITY), value);
    pick(x < T::of(0.0), T::of(f64::NAN), value)
}

/// For `log(1 + f) = f - (half - rest)`: `half`, which is f^2/2, and `rest`.
#[inline(always)]
fn terms<T: Real>(f: T, s: T) -> (T, T) {
    let z = s * s;
    let half = T::of(0.5) * f * f;
    (half, s * z.mul_add(T::log(z), half))
}

/// `ln(x)`.
/// Measured: 0.79 ulp in f32, 0.78 in f64.
#[inline(always)]
pub(crate) fn log<T: Real>(x: T) -> T {
    let (m, k) = x.split();
    let f = m - T::of(1.0);
    let (half, rest) = terms(f, f / (T::of(2.0) + f));
    edges(x, k.mul_add(T::LN2.0, f - (half - k.mul_add(T::LN2.1, rest))))
}

/// The logarithm to a base: `k * unit + ln(m) / ln(base)`.
#[inline(always)]
fn log_to<T: Real>(x: T, inverse: (T, T), unit: (T, T)) -> T {
    let (m, k) = x.split();
    let f = m - T::of(1.0);
    let (half, rest) = terms(f, f / (T::of(2.0) + f));
    let high = (f - half).head();
    let low = ((f - high) - half) + rest;
    let main = high * inverse.0;
    let whole = k * unit.0;
    let sum = whole + main;
    let lost = (whole - sum) + main;
    edges(x, (k * unit.1 + ((low + high) * inverse.1 + low * inverse.0) + lost) + sum)
}

/// `log2(x)`.
/// Measured: 0.76 ulp in f32, 1.02 in f64.
#[inline(always)]
pub(crate) fn log2<T: Real>(x: T) -> T {
    log_to(x, T::LOG2_E, (T::of(1.0), T::of(0.0)))
}

/// `log10(x)`.
/// Measured: 0.74 ulp in f32, 0.99 in f64.
#[inline(always)]
pub(crate) fn log10<T: Real>(x: T) -> T {
    log_to(x, T::LOG10_E, T::LOG10_2)
}

/// `ln(2^more * (1 + high + low))`, for a `low` below the last digit of `high`.
#[inline(always)]
pub(crate) fn log1p_parts<T: Real>(high: T, low: T, more: T) -> T {
    let one = T::of(1.0);
    let u = one + high;
    let part = u - one;
    let lost = (one - (u - part)) + (high - part) + low;
    let (m, k) = u.split();
    // If k = 0, u is 1 + high up to a rounding error, which `high` itself does not have.
    let near = k == T::of(0.0);
    let far = pick(k > T::of(64.0), T::of(64.0), k);
    let f = pick(near, high, m - one);
    let lost = pick(near, low, pick(k > T::of(64.0), T::of(0.0), lost * T::power_of_two(-far)));
    // One division for s = f / (2 + f) and for lost / m.
    let twice = T::of(2.0) + f;
    let inverse = one / (twice * m);
    let (half, rest) = terms(f, f * m * inverse);
    let k = k + more;
    edges(u, k * T::LN2.0 - ((half - (rest + (k * T::LN2.1 + lost * (twice * inverse)))) - f))
}

/// `ln(1 + x)`.
/// Measured: 0.84 ulp in f32, 0.81 in f64.
#[inline(always)]
pub(crate) fn log1p<T: Real>(x: T) -> T {
    pick(x == T::of(0.0), x, log1p_parts(x, T::of(0.0), T::of(0.0)))
}
