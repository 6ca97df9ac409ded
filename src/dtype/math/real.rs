//! The operations that elementary functions need of a floating-point type, and sums and products that return their rounding errors.

use super::poly::Poly;
use core::ops::{Add, Div, Mul, Neg, Sub};

/// f32 and f64.
pub trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Poly
    + 'static
{
    /// `1.5 * 2^(digits - 1)`: adding it rounds to an integer, which is then in the low bits.
    const MAGIC: Self;
    /// Where `exp` underflows to 0, and where it overflows to infinity.
    const EXP_RANGE: (Self, Self);
    /// From here to 0, `e^x` is a normal number.
    const EXP_NORMAL: Self;
    /// The same for `exp2`.
    const EXP2_RANGE: (Self, Self);
    /// Where `erfc` underflows to 0.
    const ERFC_END: Self;
    /// ln(2); the low bits of the first part are zero, so that products with an exponent are exact.
    const LN2: (Self, Self);
    /// log10(2), likewise.
    const LOG10_2: (Self, Self);
    /// 1 / ln(2), the first part with half of the bits.
    const LOG2_E: (Self, Self);
    /// 1 / ln(10), likewise.
    const LOG10_E: (Self, Self);
    /// pi/2 in two parts.
    const PI_2: (Self, Self);
    /// 1/sqrt(2) in two parts.
    const SQRT_1_2: (Self, Self);
    /// atan(1/2), atan(1) and atan(3/2) in two parts each.
    const ATANS: [(Self, Self); 3];

    /// A constant, or the result of a computation in f64.
    fn of(value: f64) -> Self;
    /// The same number in f64.
    fn wide(self) -> f64;
    /// The magnitude.
    fn abs(self) -> Self;
    /// With the sign of another number.
    fn copysign(self, sign: Self) -> Self;
    /// The correctly rounded square root.
    fn sqrt(self) -> Self;
    /// `self * factor + more`, rounded once. A single instruction where the machine has FMA.
    fn mul_add(self, factor: Self, more: Self) -> Self;
    /// 2^n for an integer n in the range of normal numbers.
    fn power_of_two(n: Self) -> Self;
    /// The integer nearest to `self * factor`, and 2 to its power as two factors, which are normal numbers even if the power is not: for
    /// integers up to twice the largest exponent.
    fn powers(self, factor: Self) -> (Self, Self, Self);
    /// The integer nearest to `self * factor`, and 2 to its power, if that is a normal number.
    fn one_power(self, factor: Self) -> (Self, Self);
    /// The upper half of the significand.
    fn head(self) -> Self;
    /// A positive number as `m * 2^k` with m from sqrt(1/2) to sqrt(2).
    fn split(self) -> (Self, Self);
    /// `sin_small`, implemented per type.
    fn sin_small(self) -> Self;
    /// `cos_small`, likewise.
    fn cos_small(self) -> Self;
    /// `sin`, likewise.
    fn sin_any(self) -> Self;
    /// `cos`, likewise.
    fn cos_any(self) -> Self;
    /// `erf`, likewise.
    fn erf(self) -> Self;
    /// `atanh`, likewise.
    fn atanh(self) -> Self;
    /// `sqrt(x^2 + y^2)`, likewise.
    fn hypot(self, y: Self) -> Self;
    /// `|x|^y` for finite y and finite positive x, likewise.
    fn power(self, y: Self) -> Self;

    /// Rounds to the nearest integer, for magnitudes below a quarter of [`Real::MAGIC`].
    #[inline(always)]
    fn nearest(self) -> Self {
        (self + Self::MAGIC) - Self::MAGIC
    }

    /// Clamps; NaN stays NaN.
    #[inline(always)]
    fn bound(self, low: Self, high: Self) -> Self {
        let x = pick(self < low, low, self);
        pick(x > high, high, x)
    }

    /// `self * 2^n`, also where 2^n itself is out of range; rounds once.
    #[inline(always)]
    fn scale(self, n: Self) -> Self {
        let half = (n * Self::of(0.5)).nearest();
        self * Self::power_of_two(half) * Self::power_of_two(n - half)
    }
}

macro_rules! real {
    ($t:ident, $bits:ident: $digits:literal, $bias:literal, $half:literal, $sqrt_1_2:literal, $own_way:ident, { $($own:item)* }) => {
        impl Real for $t {
            const MAGIC: Self = 1.5 * (1u64 << ($digits - 1)) as Self;
            $($own)*

            #[inline(always)]
            fn of(value: f64) -> Self {
                value as Self
            }

            #[inline(always)]
            fn wide(self) -> f64 {
                self as f64
            }

            #[inline(always)]
            fn abs(self) -> Self {
                $t::abs(self)
            }

            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                $t::copysign(self, sign)
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }

            #[inline(always)]
            fn mul_add(self, factor: Self, more: Self) -> Self {
                $t::mul_add(self, factor, more)
            }

            #[inline(always)]
            fn power_of_two(n: Self) -> Self {
                const ONE: $t = (1u64 << ($digits - 1)) as $t + $bias as $t;
                $t::from_bits((n + ONE).to_bits() << ($digits - 1))
            }

            #[inline(always)]
            fn powers(self, factor: Self) -> (Self, Self, Self) {
                // Adding it rounds to an integer like `MAGIC`, and leaves it in the low bits with twice the bias, which splits into the
                // biased exponents of both factors.
                const MAGIC: $t = 1.5 * (1u64 << ($digits - 1)) as $t + (2 * $bias) as $t;
                let sum = self.mul_add(factor, MAGIC);
                let whole = sum.to_bits();
                let half = whole >> 1;
                let power = |biased: $bits| $t::from_bits(biased << ($digits - 1));
                (sum - MAGIC, power(half), power(whole.wrapping_sub(half)))
            }

            #[inline(always)]
            fn one_power(self, factor: Self) -> (Self, Self) {
                // As in `powers`, with the bias.
                const MAGIC: $t = 1.5 * (1u64 << ($digits - 1)) as $t + $bias as $t;
                let sum = self.mul_add(factor, MAGIC);
                (sum - MAGIC, $t::from_bits(sum.to_bits() << ($digits - 1)))
            }

            #[inline(always)]
            fn head(self) -> Self {
                $t::from_bits(self.to_bits() & !((1 << $half) - 1))
            }

            #[inline(always)]
            fn split(self) -> (Self, Self) {
                const ONE: $bits = $bias << ($digits - 1);
                const UNIT: $t = (1u64 << ($digits - 1)) as $t;
                let small = self < $t::MIN_POSITIVE;
                let bits = pick(small, self * UNIT, self).to_bits().wrapping_add(ONE - $sqrt_1_2);
                let m = $t::from_bits((bits & ((1 << ($digits - 1)) - 1)) + $sqrt_1_2);
                // The exponent in the low bits of 2^(digits - 1).
                let k = $t::from_bits((bits >> ($digits - 1)) | UNIT.to_bits());
                let lost = pick(small, UNIT + ($bias + $digits - 1) as $t, UNIT + $bias as $t);
                (m, k - lost)
            }

            #[inline(always)]
            fn sin_small(self) -> Self {
                super::trig::$own_way::sin(self)
            }

            #[inline(always)]
            fn cos_small(self) -> Self {
                super::trig::$own_way::cos(self)
            }

            #[inline(always)]
            fn sin_any(self) -> Self {
                super::trig::$own_way::sin_any(self)
            }

            #[inline(always)]
            fn cos_any(self) -> Self {
                super::trig::$own_way::cos_any(self)
            }

            #[inline(always)]
            fn erf(self) -> Self {
                super::erf::$own_way(self)
            }

            #[inline(always)]
            fn atanh(self) -> Self {
                super::hyper::$own_way(self)
            }

            #[inline(always)]
            fn hypot(self, y: Self) -> Self {
                super::arc::$own_way(self, y)
            }

            #[inline(always)]
            fn power(self, y: Self) -> Self {
                super::pow::$own_way(self, y)
            }
        }
    };
}

// The split constants are those of FreeBSD's msun (e_logf.c, e_expf.c, e_log2f.c, e_log10f.c, s_atanf.c and the double-precision files;
// Copyright (C) 1993 Sun Microsystems, freely granted) or halves of the number itself.
real!(f32, u32: 24, 127, 12, 0x3f35_04f3, single, {
    const EXP_RANGE: (f32, f32) = (-104.0, 89.0);
    const EXP_NORMAL: f32 = -87.0;
    const EXP2_RANGE: (f32, f32) = (-151.0, 129.0);
    const ERFC_END: f32 = 10.6;
    const LN2: (f32, f32) = (0.693_145_75, 1.428_606_8e-6);
    const LOG10_2: (f32, f32) = (0.301_029_2, 7.903_415e-7);
    const LOG2_E: (f32, f32) = (1.442_871_1, -1.760_528_5e-4);
    const LOG10_E: (f32, f32) = (0.434_326_17, -3.168_997e-5);
    const PI_2: (f32, f32) = (core::f32::consts::FRAC_PI_2, -4.371_139e-8);
    const SQRT_1_2: (f32, f32) = (core::f32::consts::FRAC_1_SQRT_2, 1.210_161_7e-8);
    const ATANS: [(f32, f32); 3] = [
        (0.463_647_6, 5.012_158_7e-9),
        (core::f32::consts::FRAC_PI_4, -2.185_569_4e-8),
        (0.982_793_75, -2.513_142_4e-8),
    ];
});

real!(f64, u64: 53, 1023, 27, 0x3fe6_a09e_667f_3bcd, double, {
    const EXP_RANGE: (f64, f64) = (-746.0, 710.0);
    const EXP_NORMAL: f64 = -708.0;
    const EXP2_RANGE: (f64, f64) = (-1076.0, 1025.0);
    const ERFC_END: f64 = 27.9;
    const LN2: (f64, f64) = (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10);
    const LOG10_2: (f64, f64) = (0.301_029_995_663_611_77, 3.694_239_077_158_931e-13);
    const LOG2_E: (f64, f64) = (1.442_695_040_721_446_3, 1.675_171_316_488_651_2e-10);
    const LOG10_E: (f64, f64) = (0.434_294_481_878_168_9, 2.508_294_671_164_527_5e-11);
    const PI_2: (f64, f64) = (core::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);
    const SQRT_1_2: (f64, f64) = (core::f64::consts::FRAC_1_SQRT_2, -4.833_646_656_726_457e-17);
    const ATANS: [(f64, f64); 3] = [
        (0.463_647_609_000_806_1, 2.269_877_745_296_168_7e-17),
        (core::f64::consts::FRAC_PI_4, 3.061_616_997_868_383e-17),
        (0.982_793_723_247_329, 1.390_331_103_123_099_8e-17),
    ];
});

/// Selects one of two computed values without a branch.
#[inline(always)]
pub(crate) fn pick<T>(condition: bool, yes: T, no: T) -> T {
    if condition { yes } else { no }
}

/// `a + b` and its rounding error, for `|a| >= |b|` (Dekker).
#[inline(always)]
pub(crate) fn fast_sum<T: Real>(a: T, b: T) -> (T, T) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// `a + b` and its rounding error (Knuth).
#[inline(always)]
pub(crate) fn sum<T: Real>(a: T, b: T) -> (T, T) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// `a * b` and its rounding error, for products that neither overflow nor underflow.
#[inline(always)]
pub(crate) fn product<T: Real>(a: T, b: T) -> (T, T) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// The quotient of two numbers in two parts each, not normalised; one division.
#[inline(always)]
pub(crate) fn quotient2<T: Real>(a: (T, T), b: (T, T)) -> (T, T) {
    let inverse = T::of(1.0) / b.0;
    let high = a.0 * inverse;
    let (again, rest) = product(high, b.0);
    (high, (((a.0 - again) - rest) + (a.1 - high * b.1)) * inverse)
}

/// The product of two numbers in two parts each.
#[inline(always)]
pub(crate) fn product2<T: Real>(a: (T, T), b: (T, T)) -> (T, T) {
    let (high, low) = product(a.0, b.0);
    (high, low + (a.0 * b.1 + a.1 * b.0))
}
