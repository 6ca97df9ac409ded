//! Dual numbers for forward-mode differentiation: a value and its tangent (derivative). A formula generic over floats runs on them
//! unchanged and gives its derivative.
//!
//! `ops::slope` reads the derivatives of elementwise operations from their formulas this way. Comparisons use the values alone, so the
//! derivative is that of the branch taken; where branches meet, it is one-sided. Analytic functions of complex numbers, whose branches are
//! for numbers of an axis, state their derivative (`Analytic`).

#[cfg(test)]
pub(crate) mod read;
#[cfg(test)]
mod steps;
#[cfg(test)]
mod tests;

use crate::dtype::math::{self, Elementary, ElementaryOfTwo};
use crate::dtype::numbers::{MachineElement, MachineInexact, MachineReal, by_category};
use crate::dtype::special::{Function, FunctionOfTwo};
use crate::dtype::{Analytic, Complex, DType, MachineFloat, Several};
use core::cmp::Ordering;
use core::num::FpCategory;
use core::ops::{Add, Div, Mul, Neg, Rem, Sub};
use num_traits::{Float, FloatConst, Num, NumCast, One, ToPrimitive, Zero};

/// A number and its tangent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dual<T> {
    pub(crate) value: T,
    pub(crate) tangent: T,
}

impl<T: MachineFloat> Dual<T> {
    #[inline(always)]
    pub(crate) fn new(value: T, tangent: T) -> Self {
        Dual { value, tangent }
    }
    #[inline(always)]
    pub(crate) fn constant(value: T) -> Self {
        Dual { value, tangent: T::zero() }
    }
    /// A function of this number, from its value and its derivative here.
    #[inline(always)]
    fn chain(self, value: T, derivative: T) -> Self {
        Dual { value, tangent: by(self.tangent, derivative) }
    }
    /// An elementary function, from its value here.
    #[inline(always)]
    fn by<F: Elementary>(self, value: T) -> Self {
        self.chain(value, F::derivative(self.value, value))
    }
    /// A function of two numbers. Constants are skipped: the derivative by them may not exist.
    #[inline(always)]
    fn by_both(self, other: Self, value: T, [by_self, by_other]: [T; 2]) -> Self {
        Dual { value, tangent: by(self.tangent, by_self) + by(other.tangent, by_other) }
    }
    /// A step function: the derivative is zero except at jumps.
    #[inline(always)]
    fn flat(value: T) -> Self {
        Self::constant(value)
    }
}

impl<T: MachineFloat> PartialEq for Dual<T> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}
impl<T: MachineFloat> PartialOrd for Dual<T> {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
    #[inline(always)]
    fn lt(&self, other: &Self) -> bool {
        self.value < other.value
    }
    #[inline(always)]
    fn le(&self, other: &Self) -> bool {
        self.value <= other.value
    }
    #[inline(always)]
    fn gt(&self, other: &Self) -> bool {
        self.value > other.value
    }
    #[inline(always)]
    fn ge(&self, other: &Self) -> bool {
        self.value >= other.value
    }
}

/// A tangent times a factor; 0 for constants, also where the factor is infinite or NaN.
#[inline(always)]
fn by<T: MachineFloat>(tangent: T, factor: T) -> T {
    if tangent.is_known_zero() { T::zero() } else { tangent * factor }
}

/// `Add add |a, b| (value, tangent);`
macro_rules! operators {
    ($($trait:ident $method:ident |$a:ident, $b:ident| $value:expr, |$q:ident| $tangent:expr;)*) => {$(
        impl<T: MachineFloat> $trait for Dual<T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                let $q = $value;
                Dual { value: $q, tangent: $tangent }
            }
        }
    )*};
}
operators! {
    Add add |a, b| a.value + b.value, |_q| a.tangent + b.tangent;
    Sub sub |a, b| a.value - b.value, |_q| a.tangent - b.tangent;
    Mul mul |a, b| a.value * b.value, |_q| by(a.tangent, b.value) + by(b.tangent, a.value);
    Div div |a, b| a.value / b.value, |q| (a.tangent - by(b.tangent, q)) / b.value;
    Rem rem |a, b| a.value % b.value, |_q| a.tangent - (a.value / b.value).trunc() * b.tangent;
}
impl<T: MachineFloat> Neg for Dual<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Dual { value: -self.value, tangent: -self.tangent }
    }
}
impl<T: MachineFloat> Zero for Dual<T> {
    #[inline(always)]
    fn zero() -> Self {
        Self::constant(T::zero())
    }
    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.value == T::zero()
    }
}
impl<T: MachineFloat> One for Dual<T> {
    #[inline(always)]
    fn one() -> Self {
        Self::constant(T::one())
    }
}
impl<T: MachineFloat> Num for Dual<T> {
    type FromStrRadixErr = T::FromStrRadixErr;
    #[inline(always)]
    fn from_str_radix(digits: &str, radix: u32) -> Result<Self, Self::FromStrRadixErr> {
        T::from_str_radix(digits, radix).map(Self::constant)
    }
}
impl<T: MachineFloat> ToPrimitive for Dual<T> {
    #[inline(always)]
    fn to_i64(&self) -> Option<i64> {
        self.value.to_i64()
    }
    #[inline(always)]
    fn to_u64(&self) -> Option<u64> {
        self.value.to_u64()
    }
    #[inline(always)]
    fn to_f64(&self) -> Option<f64> {
        self.value.to_f64()
    }
}
impl<T: MachineFloat> NumCast for Dual<T> {
    #[inline(always)]
    fn from<N: ToPrimitive>(number: N) -> Option<Self> {
        <T as NumCast>::from(number).map(Self::constant)
    }
}

macro_rules! values {
    ($($name:ident)*) => {$(
        #[inline(always)]
        fn $name() -> Self {
            Self::constant(T::$name())
        }
    )*};
}
macro_rules! questions {
    ($($name:ident)*) => {$(
        #[inline(always)]
        fn $name(self) -> bool {
            self.value.$name()
        }
    )*};
}
macro_rules! flat {
    ($($name:ident)*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            Self::flat(self.value.$name())
        }
    )*};
}
/// The platform's functions have the derivatives of the elementary ones.
macro_rules! elementary {
    ($($name:ident = $function:ident;)*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            self.by::<math::$function>(self.value.$name())
        }
    )*};
}

impl<T: MachineFloat> Float for Dual<T> {
    values! { nan infinity neg_infinity neg_zero min_value min_positive_value epsilon max_value }
    questions! { is_nan is_infinite is_finite is_normal is_sign_positive is_sign_negative }
    flat! { floor ceil round trunc signum }
    elementary! {
        exp = Exp; exp2 = Exp2; exp_m1 = Expm1; ln = Log; log2 = Log2; log10 = Log10; ln_1p = Log1p;
        sin = Sin; cos = Cos; tan = Tan; asin = Asin; acos = Acos; atan = Atan;
        sinh = Sinh; cosh = Cosh; tanh = Tanh; asinh = Asinh; acosh = Acosh; atanh = Atanh;
    }
    #[inline(always)]
    fn classify(self) -> FpCategory {
        self.value.classify()
    }
    #[inline(always)]
    fn integer_decode(self) -> (u64, i16, i8) {
        self.value.integer_decode()
    }
    #[inline(always)]
    fn fract(self) -> Self {
        self.chain(self.value.fract(), T::one())
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.chain(self.value.abs(), T::one().copysign(self.value))
    }
    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        let turned = T::one().copysign(self.value) * T::one().copysign(sign.value);
        self.chain(self.value.copysign(sign.value), turned)
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        let tangent = self.tangent * a.value + self.value * a.tangent + b.tangent;
        Dual { value: self.value.mul_add(a.value, b.value), tangent }
    }
    #[inline(always)]
    fn recip(self) -> Self {
        let value = self.value.recip();
        self.chain(value, -value * value)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        let value = self.value.sqrt();
        self.chain(value, (value + value).recip())
    }
    #[inline(always)]
    fn cbrt(self) -> Self {
        let value = self.value.cbrt();
        self.chain(value, (T::lit(3.0) * value * value).recip())
    }
    #[inline(always)]
    fn powi(self, n: i32) -> Self {
        self.chain(self.value.powi(n), T::lit(<f64 as From<i32>>::from(n)) * self.value.powi(n - 1))
    }
    #[inline(always)]
    fn powf(self, exponent: Self) -> Self {
        let value = self.value.powf(exponent.value);
        self.by_both(exponent, value, math::Pow::derivatives(self.value, exponent.value, value))
    }
    #[inline(always)]
    fn atan2(self, other: Self) -> Self {
        let value = self.value.atan2(other.value);
        self.by_both(other, value, math::Atan2::derivatives(self.value, other.value, value))
    }
    #[inline(always)]
    fn hypot(self, other: Self) -> Self {
        let value = self.value.hypot(other.value);
        self.by_both(other, value, [self.value / value, other.value / value])
    }
    #[inline(always)]
    fn log(self, base: Self) -> Self {
        self.ln() / base.ln()
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        (self.sin(), self.cos())
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if self.value >= other.value || other.value.is_nan() { self } else { other }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if self.value <= other.value || other.value.is_nan() { self } else { other }
    }
    #[inline(always)]
    fn abs_sub(self, other: Self) -> Self {
        if self.value <= other.value { Self::zero() } else { self - other }
    }
}
impl<T: MachineFloat> FloatConst for Dual<T> {
    values! { E FRAC_1_PI FRAC_1_SQRT_2 FRAC_2_PI FRAC_2_SQRT_PI FRAC_PI_2 FRAC_PI_3 FRAC_PI_4 FRAC_PI_6 FRAC_PI_8
    LN_10 LN_2 LOG10_E LOG2_E PI SQRT_2 }
}
impl<T: MachineFloat> MachineElement for Dual<T> {
    type Truth = T::Truth;
    by_category! { real called }
    #[inline(always)]
    fn unit() -> Self {
        Self::one()
    }
    #[inline(always)]
    fn same(self, other: Self) -> T::Truth {
        self.value.same(other.value)
    }
    #[inline(always)]
    fn select(truth: T::Truth, yes: Self, no: Self) -> Self {
        Dual { value: T::select(truth, yes.value, no.value), tangent: T::select(truth, yes.tangent, no.tangent) }
    }
}
impl<T: MachineFloat> MachineReal for Dual<T> {
    #[inline(always)]
    fn less(self, other: Self) -> T::Truth {
        self.value.less(other.value)
    }
}
impl<T: MachineFloat> MachineInexact for Dual<T> {
    #[inline(always)]
    fn lit(value: f64) -> Self {
        Self::constant(T::lit(value))
    }
}
impl<T: MachineFloat> MachineFloat for Dual<T> {
    /// The value and the tangent are functions of their own.
    #[inline(always)]
    fn row_of_complex<F>(
        _: &'static str,
        z: [Complex<Self>; 4],
        run: impl Fn([Complex<Self>; 4]) -> Complex<Self>,
    ) -> Complex<Self> {
        let constant = |z: Complex<T>| Complex::new(Dual::constant(z.re), Dual::constant(z.im));
        let value = |z: Complex<Self>| Complex::new(z.re.value, z.im.value);
        let tangent = |z: Complex<Self>| Complex::new(z.re.tangent, z.im.tangent);
        let moved = |z: Complex<T>, by: Complex<T>| Complex::new(Dual::new(z.re, by.re), Dual::new(z.im, by.im));
        let zero = Complex::default();
        let [a, b] = [value(z[0]), value(z[1])];
        let at = T::row_of_complex::<F>("", [a, b, zero, zero], |[a, b, ..]| {
            value(run([constant(a), constant(b), constant(zero), constant(zero)]))
        });
        let slope = T::row_of_complex::<F>("_slope", [a, b, tangent(z[0]), tangent(z[1])], |[a, b, by_a, by_b]| {
            tangent(run([moved(a, by_a), moved(b, by_b), constant(zero), constant(zero)]))
        });
        moved(at, slope)
    }
    #[inline(always)]
    fn analytic<F: Analytic>(z: Complex<Self>) -> Complex<Self> {
        let at = Complex::new(z.re.value, z.im.value);
        let value = T::analytic::<F>(at);
        let (slope, by_re, by_im) = (F::derivative(at, value), z.re.tangent, z.im.tangent);
        Complex::new(
            Dual::new(value.re, by(by_re, slope.re) - by(by_im, slope.im)),
            Dual::new(value.im, by(by_re, slope.im) + by(by_im, slope.re)),
        )
    }
    #[inline(always)]
    fn is_known_zero(self) -> bool {
        self.value.is_known_zero() && self.tangent.is_known_zero()
    }
    #[inline(always)]
    fn by_several<F: Several>(x: [Self; 6]) -> Self {
        let at = x.map(|x| x.value);
        let slope = |by: usize| {
            let tangent = x[by].tangent;
            if tangent.is_known_zero() { T::zero() } else { tangent * F::derivative(by, at) }
        };
        Dual { value: F::real(at), tangent: (0..6).map(slope).fold(T::zero(), T::add) }
    }
    #[inline(always)]
    fn elementary<F: Elementary>(x: Self) -> Self {
        x.by::<F>(T::elementary::<F>(x.value))
    }
    #[inline(always)]
    fn elementary_of_two<F: ElementaryOfTwo>(a: Self, b: Self) -> Self {
        let value = T::elementary_of_two::<F>(a.value, b.value);
        a.by_both(b, value, F::derivatives(a.value, b.value, value))
    }
    #[inline(always)]
    fn special<F: Function>(x: Self) -> Self {
        let value = T::special::<F>(x.value);
        x.chain(value, F::derivative(x.value, value))
    }
    #[inline(always)]
    fn special_of_two<F: FunctionOfTwo>(a: Self, b: Self) -> Self {
        let value = T::special_of_two::<F>(a.value, b.value);
        a.by_both(b, value, F::derivatives(a.value, b.value, value))
    }
    #[inline(always)]
    fn round_ties_even(self) -> Self {
        Self::flat(self.value.round_ties_even())
    }
    /// Not differentiable.
    #[inline(always)]
    fn next_towards(self, other: Self) -> Self {
        Dual { value: self.value.next_towards(other.value), tangent: T::nan() }
    }
    #[inline(always)]
    fn scaled_by(self, exponent: Self) -> Self {
        Dual { value: self.value.scaled_by(exponent.value), tangent: self.tangent.scaled_by(exponent.value) }
    }
    /// Rounding is ignored.
    #[inline(always)]
    fn sum_of_lgammas(self, first: Self, dtype: DType) -> Self {
        let value = self.value.sum_of_lgammas(first.value, dtype);
        self.chain(value, self.value.sum_of_digammas(first.value))
    }
    #[inline(always)]
    fn binade(self) -> Self {
        Self::flat(self.value.binade())
    }
    /// Rounding is ignored.
    #[inline(always)]
    fn rounded_to(self, dtype: DType) -> Self {
        Dual { value: self.value.rounded_to(dtype), tangent: self.tangent }
    }
}
