//! Powers.

use super::exp::scaled;
use super::poly::{log_tail, short_exp, short_log};
use super::real::{Real, fast_sum, pick, product, product2, quotient2, sum};

/// Whether a nonnegative number is an integer.
#[inline(always)]
fn is_integer<T: Real>(x: T) -> bool {
    // From here on all floats are integers.
    let unit = T::MAGIC * T::of(2.0 / 3.0);
    (x >= unit) | ((x + unit) - unit == x)
}

/// `x^y`, with IEEE's special cases: 1 for y = 0 and for x = 1, even with NaN.
/// Measured: 0.50 ulp in f32, 0.71 in f64.
#[inline(always)]
pub(crate) fn pow<T: Real>(x: T, y: T) -> T {
    let (one, zero, infinity) = (T::of(1.0), T::of(0.0), T::of(f64::INFINITY));
    let size = x.abs();
    let exponent = y.abs();
    let whole = is_integer(exponent);
    let odd = whole & !is_integer(T::of(0.5) * exponent);
    let ordinary = size.power(y);
    // The results for 0 and infinity, and for infinite exponents.
    let grows = (size > one) == (y > zero);
    let edge = (size == zero) | (size == infinity) | (exponent == infinity);
    let value = pick(edge, pick(grows, infinity, zero), ordinary);
    let value = pick(size == one, one, value);
    let negative = one.copysign(x) < zero;
    let value = pick(negative & odd, -value, value);
    let value = pick((x < zero) & (size < infinity) & !whole, T::of(f64::NAN), value);
    let value = pick((x < zero) | (x >= zero), value, x);
    let value = pick((y < zero) | (y >= zero), value, y);
    pick((x == one) | (y == zero), one, value)
}

/// `x^y` in f32, computed in f64, where every x is a normal number: with shorter polynomials.
#[inline(always)]
pub(crate) fn single(x: f32, y: f32) -> f32 {
    const DIGITS: u32 = 52;
    const SQRT_1_2: u64 = 0x3fe6_a09e_667f_3bcd;
    const ONE: u64 = 1023 << DIGITS;
    // x = m * 2^k with m from sqrt(1/2) to sqrt(2).
    let bits = (x as f64).to_bits().wrapping_add(ONE - SQRT_1_2);
    let m = f64::from_bits((bits & ((1 << DIGITS) - 1)) + SQRT_1_2);
    const UNIT: f64 = (1u64 << DIGITS) as f64;
    let k = f64::from_bits((bits >> DIGITS) | UNIT.to_bits()) - (UNIT + 1023.0);
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let log = k.mul_add(core::f64::consts::LN_2, (s * z).mul_add(short_log(z), 2.0 * s));
    let power = y as f64 * log;
    // Results that underflow to 0 are not computed: processors are slow on underflow.
    let ends = power < -104.0;
    let power = pick(ends, 0.0, pick(power > 89.0, 89.0, power));
    let n = (power * core::f64::consts::LOG2_E).nearest();
    let r = n.mul_add(-core::f64::consts::LN_2, power);
    pick(ends, 0.0, (r * r).mul_add(short_exp(r), 1.0 + r) * f64::power_of_two(n)) as f32
}

/// `ln(x)` to about 68 bits.
#[inline(always)]
fn log_parts(x: f64) -> (f64, f64) {
    let (m, k) = x.split();
    // s = (m - 1) / (m + 1), where the numerator is exact.
    let f = m - 1.0;
    let (d, d_low) = sum(m, 1.0);
    let s = quotient2((f, 0.0), (d, d_low));
    // 2 s + s^3 (2/3 + s^2 P).
    let z = product2(s, s);
    let third = fast_sum(0.666_666_666_666_666_6, z.0 * log_tail(z.0));
    let cube = product2(product2(s, z), (third.0, third.1 + 3.700_743_415_417_188e-17));
    // LN2 in three parts: the first part times k is exact.
    let (high, a) = sum(k * f64::LN2.0, 2.0 * s.0);
    let (middle, b) = product(k, f64::LN2.1);
    let (high, c) = sum(high, middle);
    let (high, d) = sum(high, cube.0);
    fast_sum(high, a + (c + (d + (b + cube.1 + 2.0 * s.1))))
}

/// `x^y` in f64.
#[inline(always)]
pub(crate) fn double(x: f64, y: f64) -> f64 {
    let (high, low) = product2(log_parts(x), (y, 0.0));
    // Out of range the low part is not needed, and may be NaN.
    let low = pick(high.abs() < 1000.0, low, 0.0);
    // Results that underflow to 0 are not computed: processors are slow on underflow.
    let ends = high < f64::EXP_RANGE.0;
    let (high, low) = fast_sum(pick(ends, 0.0, pick(high > f64::EXP_RANGE.1, f64::EXP_RANGE.1, high)), low);
    pick(ends, 0.0, scaled(high, low).value())
}
