//! Several numbers side by side, as one: formulas with loops run on them, since compilers make vectors of the elements around a formula, but not
//! around a loop inside of it.

#![allow(clippy::needless_range_loop, reason = "plain loops over lanes are vectorised best")]

use crate::dtype::math::{Elementary, ElementaryOfTwo};
use crate::dtype::numbers::{MachineElement, MachineInexact, MachineReal, by_category};
use crate::dtype::special::{Function, FunctionOfTwo};
use crate::dtype::{Binary, DType, MachineFloat, Truth, Unary};
use core::cmp::Ordering;
use core::num::FpCategory;
use core::ops::{Add, Div, Mul, Neg, Rem, Sub};
use num_traits::{Float, FloatConst, Num, NumCast, One, ToPrimitive, Zero};

/// How many: two vectors of `f32` with the widest instructions.
pub const LANES: usize = 32;

/// Numbers side by side.
#[derive(Clone, Copy, Debug)]
pub struct Lanes<T>(pub [T; LANES]);
/// Outcomes side by side.
#[derive(Clone, Copy)]
pub struct Outcomes<B>([B; LANES]);

/// Formulas compare by masks: one outcome for all lanes does not exist.
#[cold]
fn undecided() -> ! {
    unreachable!("a formula branches on its elements")
}

impl<T: MachineFloat> Lanes<T> {
    // (Loops: functions of arrays, `map` and `from_fn`, are not always inlined.)
    #[inline(always)]
    fn each(self, of: impl Fn(T) -> T) -> Self {
        let mut out = self.0;
        for at in 0..LANES {
            out[at] = of(self.0[at]);
        }
        Lanes(out)
    }
    #[inline(always)]
    fn both(self, other: Self, of: impl Fn(T, T) -> T) -> Self {
        let mut out = self.0;
        for at in 0..LANES {
            out[at] = of(self.0[at], other.0[at]);
        }
        Lanes(out)
    }
    #[inline(always)]
    fn asked(self, other: Self, of: impl Fn(T, T) -> T::Truth) -> Outcomes<T::Truth> {
        let mut out = [of(self.0[0], other.0[0]); LANES];
        for at in 1..LANES {
            out[at] = of(self.0[at], other.0[at]);
        }
        Outcomes(out)
    }
}
/// Where a number among them does not take the fast path.
#[cold]
#[inline(never)]
fn slow<T: MachineFloat>(a: Lanes<T>, b: Lanes<T>, of: impl Fn(T, T) -> T) -> Lanes<T> {
    a.both(b, of)
}
impl<T: MachineFloat> Default for Lanes<T> {
    #[inline(always)]
    fn default() -> Self {
        Lanes([T::zero(); LANES])
    }
}
impl<T> PartialEq for Lanes<T> {
    fn eq(&self, _: &Self) -> bool {
        undecided()
    }
}
impl<T> PartialOrd for Lanes<T> {
    fn partial_cmp(&self, _: &Self) -> Option<Ordering> {
        undecided()
    }
}
macro_rules! operators {
    ($($trait:ident $method:ident),*) => {$(
        impl<T: MachineFloat> $trait for Lanes<T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.both(other, T::$method)
            }
        }
    )*};
}
operators! { Add add, Sub sub, Mul mul, Div div, Rem rem }
impl<T: MachineFloat> Neg for Lanes<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.each(T::neg)
    }
}
impl<T: MachineFloat> Zero for Lanes<T> {
    #[inline(always)]
    fn zero() -> Self {
        Self::default()
    }
    fn is_zero(&self) -> bool {
        undecided()
    }
}
impl<T: MachineFloat> One for Lanes<T> {
    #[inline(always)]
    fn one() -> Self {
        Lanes([T::one(); LANES])
    }
}
impl<T: MachineFloat> Num for Lanes<T> {
    type FromStrRadixErr = T::FromStrRadixErr;
    fn from_str_radix(digits: &str, radix: u32) -> Result<Self, Self::FromStrRadixErr> {
        T::from_str_radix(digits, radix).map(|number| Lanes([number; LANES]))
    }
}
impl<T> ToPrimitive for Lanes<T> {
    fn to_i64(&self) -> Option<i64> {
        None
    }
    fn to_u64(&self) -> Option<u64> {
        None
    }
}
impl<T: MachineFloat> NumCast for Lanes<T> {
    fn from<N: ToPrimitive>(number: N) -> Option<Self> {
        <T as NumCast>::from(number).map(|number| Lanes([number; LANES]))
    }
}

macro_rules! values {
    ($($name:ident)*) => {$(
        #[inline(always)]
        fn $name() -> Self {
            Lanes([T::$name(); LANES])
        }
    )*};
}
macro_rules! questions {
    ($($name:ident)*) => {$(
        fn $name(self) -> bool {
            undecided()
        }
    )*};
}
macro_rules! of_one {
    ($($name:ident)*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            self.each(T::$name)
        }
    )*};
}
macro_rules! of_two {
    ($($name:ident)*) => {$(
        #[inline(always)]
        fn $name(self, other: Self) -> Self {
            self.both(other, T::$name)
        }
    )*};
}
impl<T: MachineFloat> Float for Lanes<T> {
    values! { nan infinity neg_infinity neg_zero min_value min_positive_value epsilon max_value }
    questions! { is_nan is_infinite is_finite is_normal is_sign_positive is_sign_negative }
    of_one! {
        floor ceil round trunc fract abs signum recip sqrt cbrt exp exp2 exp_m1 ln log2 log10 ln_1p
        sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
    }
    of_two! { copysign powf atan2 hypot log max min abs_sub }
    fn classify(self) -> FpCategory {
        undecided()
    }
    fn integer_decode(self) -> (u64, i16, i8) {
        undecided()
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        let mut out = self.0;
        for at in 0..LANES {
            out[at] = self.0[at].mul_add(a.0[at], b.0[at]);
        }
        Lanes(out)
    }
    #[inline(always)]
    fn powi(self, n: i32) -> Self {
        self.each(|x| x.powi(n))
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        (self.sin(), self.cos())
    }
}
impl<T: MachineFloat> FloatConst for Lanes<T> {
    values! { E FRAC_1_PI FRAC_1_SQRT_2 FRAC_2_PI FRAC_2_SQRT_PI FRAC_PI_2 FRAC_PI_3 FRAC_PI_4 FRAC_PI_6 FRAC_PI_8
    LN_10 LN_2 LOG10_E LOG2_E PI SQRT_2 }
}
impl<T: MachineFloat> MachineElement for Lanes<T> {
    type Truth = Outcomes<T::Truth>;
    #[inline(always)]
    fn same(self, other: Self) -> Self::Truth {
        self.asked(other, T::same)
    }
    #[inline(always)]
    fn select(truth: Self::Truth, yes: Self, no: Self) -> Self {
        let mut out = yes.0;
        for at in 0..LANES {
            out[at] = T::select(truth.0[at], yes.0[at], no.0[at]);
        }
        Lanes(out)
    }
    #[inline(always)]
    fn by_unary<F: Unary>(self) -> Self {
        if const { !F::HAS_FAST_PATH } {
            return self.each(F::real);
        }
        // (No short circuit: all are asked at once.)
        let is_fast = self.0.iter().fold(true, |all, &x| all & F::takes_fast_path(x));
        if is_fast { self.each(F::fast_path) } else { slow(self, self, |x, _| F::real(x)) }
    }
    #[inline(always)]
    fn by_binary<F: Binary>(self, other: Self) -> Self {
        if const { !F::HAS_FAST_PATH } {
            return self.both(other, F::real);
        }
        let pairs = self.0.iter().zip(&other.0);
        let is_fast = pairs.fold(true, |all, (&a, &b)| all & F::takes_fast_path(a, b));
        if is_fast { self.both(other, F::fast_path) } else { slow(self, other, F::real) }
    }
    by_category! { @called called }
    #[inline(always)]
    fn unit() -> Self {
        Self::one()
    }
}
impl<T: MachineFloat> MachineReal for Lanes<T> {
    #[inline(always)]
    fn less(self, other: Self) -> Self::Truth {
        self.asked(other, T::less)
    }
}
impl<T: MachineFloat> MachineInexact for Lanes<T> {
    #[inline(always)]
    fn lit(value: f64) -> Self {
        Lanes([T::lit(value); LANES])
    }
}
impl<T: MachineFloat> MachineFloat for Lanes<T> {
    #[inline(always)]
    fn elementary<F: Elementary>(x: Self) -> Self {
        x.each(T::elementary::<F>)
    }
    #[inline(always)]
    fn elementary_of_two<F: ElementaryOfTwo>(a: Self, b: Self) -> Self {
        a.both(b, T::elementary_of_two::<F>)
    }
    fn special<F: Function>(x: Self) -> Self {
        x.each(T::special::<F>)
    }
    fn special_of_two<F: FunctionOfTwo>(a: Self, b: Self) -> Self {
        a.both(b, T::special_of_two::<F>)
    }
    #[inline(always)]
    fn round_ties_even(self) -> Self {
        self.each(T::round_ties_even)
    }
    of_two! { next_towards scaled_by left_over left_over_small }
    fn binade(self) -> Self {
        self.each(T::binade)
    }
    fn rounded_to(self, dtype: DType) -> Self {
        self.each(|x| x.rounded_to(dtype))
    }
    fn sum_of_lgammas(self, first: Self, dtype: DType) -> Self {
        self.both(first, |x, first| x.sum_of_lgammas(first, dtype))
    }
    fn sum_of_digammas(self, first: Self) -> Self {
        self.both(first, T::sum_of_digammas)
    }
}
impl<B: Truth> Truth for Outcomes<B> {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        let mut out = self.0;
        for at in 0..LANES {
            out[at] = self.0[at].and(other.0[at]);
        }
        Outcomes(out)
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        let mut out = self.0;
        for at in 0..LANES {
            out[at] = self.0[at].or(other.0[at]);
        }
        Outcomes(out)
    }
    #[inline(always)]
    fn not(self) -> Self {
        let mut out = self.0;
        for at in 0..LANES {
            out[at] = self.0[at].not();
        }
        Outcomes(out)
    }
}
