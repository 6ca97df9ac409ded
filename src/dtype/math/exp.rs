//! Exponentials.

use super::real::{Real, fast_sum, pick};

/// `e^r * 2^n = (high + low) * 2^n`, accurate to about 1/16 ulp of its sum.
pub(crate) struct Scaled<T> {
    pub(crate) high: T,
    pub(crate) low: T,
    pub(crate) n: T,
}

impl<T: Real> Scaled<T> {
    /// The number itself.
    #[inline(always)]
    pub(crate) fn value(self) -> T {
        self.high.scale(self.n)
    }
}

/// `1 + (e^(high + low) - 1)` for `|high| <= ln(2)/2` and `low` below its last digit: the sum with 1, and its rounding error.
#[inline(always)]
fn reduced<T: Real>(one: T, high: T, low: T) -> (T, T) {
    let r = high + low;
    let (sum, lost) = fast_sum(one, high);
    fast_sum(sum, lost + (r * r).mul_add(T::exp(r), low))
}

/// `e^(high + low)`, for `high` within [`Real::EXP_RANGE`] or slightly beyond.
#[inline(always)]
pub(crate) fn scaled<T: Real>(high: T, low: T) -> Scaled<T> {
    let n = (high * T::of(core::f64::consts::LOG2_E)).nearest();
    let (high, low) = reduced(T::of(1.0), n.mul_add(-T::LN2.0, high), n.mul_add(-T::LN2.1, low));
    Scaled { high, low, n }
}

/// `e^x` as a number times a power of two, which is a normal number: one rounding more than [`scaled`], and half the operations.
#[inline(always)]
pub(crate) fn plain<T: Real>(x: T) -> (T, T) {
    let (n, power) = x.one_power(T::of(core::f64::consts::LOG2_E));
    let r = n.mul_add(-T::LN2.1, n.mul_add(-T::LN2.0, x));
    (T::of(1.0) + (r * r).mul_add(T::exp(r), r), power)
}

/// `e^x` for x <= 0, flushed to 0 below about the smallest normal number. (This does not affect softmax.)
#[inline(always)]
pub(crate) fn exp_flushed<T: Real>(x: T) -> T {
    let (e, power) = plain(x);
    pick(x < T::EXP_NORMAL, T::of(0.0), e * power)
}

/// `e^x`.
/// Measured: 0.99 ulp in f32, 0.99 in f64.
#[inline(always)]
pub(crate) fn exp<T: Real>(x: T) -> T {
    // Results that underflow to 0 are not computed: processors are slow on underflow.
    let (zero, ends) = (T::of(0.0), x < T::EXP_RANGE.0);
    let x = pick(ends, zero, pick(x > T::EXP_RANGE.1, T::EXP_RANGE.1, x));
    let (n, power, more) = x.powers(T::of(core::f64::consts::LOG2_E));
    let r = n.mul_add(-T::LN2.1, n.mul_add(-T::LN2.0, x));
    pick(ends, zero, (T::of(1.0) + (r * r).mul_add(T::exp(r), r)) * power * more)
}

/// `2^x`.
/// Measured: 0.99 ulp in f32, 0.99 in f64.
#[inline(always)]
pub(crate) fn exp2<T: Real>(x: T) -> T {
    let (zero, ends) = (T::of(0.0), x < T::EXP2_RANGE.0);
    let x = pick(ends, zero, pick(x > T::EXP2_RANGE.1, T::EXP2_RANGE.1, x));
    let (n, power, more) = x.powers(T::of(1.0));
    let r = (x - n) * T::of(core::f64::consts::LN_2);
    pick(ends, zero, (T::of(1.0) + (r * r).mul_add(T::exp(r), r)) * power * more)
}

/// `e^x - 1`.
/// Measured: 1.42 ulp in f32, 1.01 in f64.
#[inline(always)]
pub(crate) fn expm1<T: Real>(x: T) -> T {
    // Below -44 the result is -1 in either type.
    let y = x.bound(T::of(-44.0), T::EXP_RANGE.1);
    let n = (y * T::of(core::f64::consts::LOG2_E)).nearest();
    // 2^n * ((e^r - 1) + (1 - 2^-n)); 2^-n becomes negligible long before it is out of range.
    let one = T::of(1.0) - T::power_of_two(-pick(n > T::of(64.0), T::of(64.0), n));
    let (high, low) = (y - n * T::LN2.0, -(n * T::LN2.1));
    let r = high + low;
    let tail = low + r * r * T::exp(r);
    // For n = 0 the sum is `high` itself; otherwise 1 - 2^-n is the larger term.
    let sum = one + high;
    let lost = pick(n == T::of(0.0), T::of(0.0), high - (sum - one));
    (sum + (lost + tail)).scale(n).copysign(x)
}
