//! The error function, its complement, its inverse.

use super::exp::{Scaled, plain, scaled};
use super::log::log;
use super::poly::log_erfc;
use super::real::{Real, fast_sum, pick, product, product2, sum};

/// Below this, `erf` is a polynomial.
const SMALL: f64 = 0.65;

/// `1 - erf(x)` for x up to [`SMALL`], given in two parts.
#[inline(always)]
fn less_near<T: Real>((x, x_low): (T, T)) -> T {
    let (one_less, lost) = fast_sum(T::of(1.0), -x);
    one_less + ((lost - x_low) - x * T::erf_near(x * x))
}

/// `e^(x^2) * erfc(x)` for x >= 0 up to [`Real::ERFC_END`], given x in two parts: `P(t) / (1 + 2 x)` with t = (x - K) / (x + K),
/// after M. M. Shepherd and J. G. Laframboise, Mathematics of Computation 36 (1981); each factor is kept in two parts.
#[inline(always)]
fn unscaled<T: Real>((x, x_low): (T, T)) -> ((T, T), (T, T)) {
    let one = T::of(1.0);
    let (d, d_low) = sum(one, x + x);
    let d_low = d_low + (x_low + x_low);
    let (above, below) = (x + T::ERFCX_K, x - T::ERFCX_K);
    let inverse = one / (above * d);
    let r = above * inverse;
    let (again, rest) = product(r, d);
    let r_low = r * (((one - again) - rest) - r * d_low);
    (fast_sum(T::ERFCX_0, T::erfcx(below * d * inverse)), (r, r_low))
}

/// `erfc(x)` for x >= 0 up to [`Real::ERFC_END`], given x and x^2 in two parts: e^(-x^2) times [`unscaled`]. Near 0, where P is
/// steep, it is `1 - erf(x)`.
#[inline(always)]
fn tail<T: Real>((x, x_low): (T, T), square: (T, T)) -> Scaled<T> {
    let (p, r) = unscaled((x, x_low));
    let e = scaled(-square.0, -square.1);
    let (high, low) = product2(product2((e.high, e.low), p), r);
    let (high, low) = fast_sum(high, low);
    let zero = T::of(0.0);
    let close = x < T::of(SMALL);
    let close_high = less_near((x, x_low));
    Scaled { high: pick(close, close_high, high), low: pick(close, zero, low), n: pick(close, zero, e.n) }
}

/// `erfc(x)`.
/// Measured: 0.85 ulp in f32, 0.79 in f64.
#[inline(always)]
pub(crate) fn erfc<T: Real>(x: T) -> T {
    let y = x.abs().bound(T::of(0.0), T::ERFC_END);
    let e = tail((y, T::of(0.0)), product(y, y));
    let far = e.high.scale(e.n);
    let near = T::of(2.0) - far;
    pick(x < T::of(0.0), near, far)
}

/// `e^(x^2) * erfc(x)`.
/// Measured: 2.16 ulp in f32, 1.47 in f64.
#[inline(always)]
pub(crate) fn erfcx<T: Real>(x: T) -> T {
    let (zero, one) = (T::of(0.0), T::of(1.0));
    let size = x.abs();
    let y = size.bound(zero, T::ERFC_END);
    let (p, r) = unscaled((y, zero));
    let (high, low) = product2(p, r);
    // For large x the asymptotic series.
    let inverse = one / size;
    let z = T::of(-0.5) * inverse * inverse;
    let step = |k: f64, value: T| (T::of(k) * z).mul_add(value, one);
    let series = step(1.0, step(3.0, step(5.0, step(7.0, step(9.0, step(11.0, one))))));
    let far = T::of(0.5 * core::f64::consts::FRAC_2_SQRT_PI) * inverse * series;
    let right = pick(size < T::ERFC_END, high + low, far);
    let square = product(y, y);
    let e = scaled(square.0, square.1);
    let growth = (e.high + e.low).scale(e.n);
    // Near 0, where P is steep, uses `1 - erf(x)`.
    let right = pick(y < T::of(SMALL), growth * less_near((y, zero)), right);
    // erfc(-x) = 2 - erfc(x)
    let left = T::of(2.0) * growth - right;
    pick(x < zero, left, right)
}

/// The inverse of `erf`: infinite at -1 and 1, NaN beyond. After M. Giles, "Approximating the erfinv function", GPU Computing Gems (2011),
/// with our own polynomials.
/// Measured: 1.54 ulp in f32, 1.30 in f64.
#[inline(always)]
pub(crate) fn erfinv<T: Real>(x: T) -> T {
    let one = T::of(1.0);
    let size = x.abs();
    let w = -log((one - size) * (one + size));
    let near =
        x * w.mul_add(T::erfinv_near(w.mul_add(T::of(0.32), -one)), T::of(1.0 / core::f64::consts::FRAC_2_SQRT_PI));
    let (middle, scale) = T::ERFINV_FAR;
    let far = T::erfinv_far((w.sqrt() - middle) * scale).copysign(x);
    pick(size == one, T::of(f64::INFINITY).copysign(x), pick(w < T::of(6.25), near, far))
}

/// `erf(x)`.
/// Measured: 1.40 ulp in f32, 0.91 in f64.
#[inline(always)]
pub(crate) fn erf<T: Real>(x: T) -> T {
    x.erf()
}

/// `erf(x)` near 0.
#[inline(always)]
fn near<T: Real>(x: T) -> T {
    x.mul_add(T::erf_near(x * x), x)
}

/// `erf(x)` in f32.
#[inline(always)]
pub(crate) fn single(x: f32) -> f32 {
    let size = x.abs();
    let y = size.bound(0.0, 4.0);
    let (e, power) = plain(-log_erfc(y));
    let far = e.mul_add(-power, 1.0);
    pick(y < SMALL as f32, near(y), far).copysign(x)
}

/// `erf(x)` in f64.
#[inline(always)]
pub(crate) fn double(x: f64) -> f64 {
    let size = x.abs();
    let y = size.bound(0.0, 6.5);
    let e = tail((y, 0.0), product(y, y));
    let unit = f64::power_of_two(e.n);
    let far = 1.0 - e.high * unit - e.low * unit;
    pick(y < SMALL, near(y), far).copysign(x)
}
