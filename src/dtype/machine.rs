//! Machine numbers: the integers and floats that formulas compute in.

use super::Castable as _;
use super::numbers::{MachineBits, MachineInexact, MachineReal};
use num_complex::Complex;
use num_traits::{Float, FloatConst, PrimInt, WrappingAdd, WrappingMul, WrappingNeg, WrappingSub};

/// The integers that formulas compute in. Arithmetic wraps.
#[diagnostic::on_unimplemented(
    message = "`{Self}` stands for numbers that are not integers",
    label = "needs integers",
    note = "the formula of integers is written `fn name<I: Integer>(…)`"
)]
pub trait MachineInt:
    MachineBits + MachineReal + PrimInt + WrappingAdd + WrappingSub + WrappingMul + WrappingNeg
{
    /// The number of bits.
    const BITS: u32;
    /// Whether the type is signed.
    const SIGNED: bool;
    /// The truncating quotient, which wraps at `MIN / -1`, and the remainder with the sign of the dividend. The divisor is not zero. Uses
    /// floating-point division where floats are exact enough, because that vectorises.
    fn divided(self, divisor: Self) -> (Self, Self);
    /// The remainder with the sign of the dividend; 0 at `MIN / -1`. The divisor is not zero.
    fn wrapping_remainder(self, divisor: Self) -> Self;
    /// Shift left; an amount outside `0..BITS` shifts everything out.
    fn shift_left(self, amount: Self) -> Self;
    /// Shift right; an amount outside `0..BITS` leaves only the sign.
    fn shift_right(self, amount: Self) -> Self;
    /// The power, which wraps. A negative exponent gives the result of integer division.
    fn wrapping_power(self, exponent: Self) -> Self;
    /// The greatest common divisor of two numbers that are non-negative or the smallest integer.
    #[inline]
    fn greatest_divisor(self, other: Self) -> Self {
        let (mut a, mut b) = (self, other);
        while a != Self::zero() {
            (a, b) = (b.wrapping_remainder(a), a);
        }
        b
    }
}

macro_rules! machine_ints {
    (@quotient $ty:ty: $a:ident $b:ident f32) => { ($a as f32 / $b as f32) as i32 as $ty };
    (@quotient $ty:ty: $a:ident $b:ident f64) => {
        if $b.wrapping_add(1) == 0 { $a.wrapping_neg() } else { ($a as f64 / $b as f64) as $ty }
    };
    // Division of the magnitudes: compilers use a shorter instruction for small numbers, guarded by a test that negative numbers would
    // fail.
    (@quotient $ty:ty: $a:ident $b:ident itself) => {{
        let quotient = ($a.unsigned_abs() / $b.unsigned_abs()) as $ty;
        if ($a < 0) != ($b < 0) { quotient.wrapping_neg() } else { quotient }
    }};
    ($($ty:ty: $signed:literal $by:ident;)*) => {$(
        impl MachineInt for $ty {
            const BITS: u32 = <$ty>::BITS;
            const SIGNED: bool = $signed;
            // Exact: a non-integral quotient differs from every integer by more than the rounding error of a float with over twice the
            // bits.
            #[inline(always)]
            fn divided(self, divisor: Self) -> (Self, Self) {
                let quotient = machine_ints!(@quotient $ty: self divisor $by);
                (quotient, self.wrapping_sub(quotient.wrapping_mul(divisor)))
            }
            #[inline(always)]
            fn wrapping_remainder(self, divisor: Self) -> Self {
                self.wrapping_rem(divisor)
            }
            #[inline(always)]
            fn shift_left(self, amount: Self) -> Self {
                match u32::try_from(amount) {
                    Ok(n) if n < <$ty>::BITS => self << n,
                    _ => 0,
                }
            }
            #[inline(always)]
            fn shift_right(self, amount: Self) -> Self {
                match u32::try_from(amount) {
                    Ok(n) if n < <$ty>::BITS => self >> n,
                    #[allow(unused_comparisons)]
                    _ => if self < 0 { !0 } else { 0 },
                }
            }
            #[inline]
            #[allow(unused_comparisons)]
            fn wrapping_power(self, exponent: Self) -> Self {
                if exponent < 0 {
                    // Rounds towards zero: only 1 and -1 have integral inverses.
                    return match self {
                        1 => 1,
                        base if base.wrapping_add(1) == 0 => if exponent & 1 == 0 { 1 } else { base },
                        _ => 0,
                    };
                }
                let (mut base, mut left, mut power) = (self, exponent, 1 as $ty);
                while left > 0 {
                    if left & 1 == 1 {
                        power = power.wrapping_mul(base);
                    }
                    base = base.wrapping_mul(base);
                    left >>= 1;
                }
                power
            }
        }
    )*};
}
machine_ints! { u8: false f32; i8: true f32; i16: true f32; i32: true f64; i64: true itself; }

/// The floats that formulas compute in. Formulas use floats only through this trait, so that other types can evaluate them: numbers that
/// record their steps, or that carry a derivative.
#[diagnostic::on_unimplemented(
    message = "`{Self}` stands for numbers that are not floating-point",
    label = "needs floating-point numbers",
    note = "write the formula of these, `fn name<F: Float>(…)`, and convert before it is applied: `x.to::<f32>()`"
)]
pub trait MachineFloat: MachineReal + MachineInexact + Float + FloatConst {
    /// A formula of several numbers whose derivative is stated.
    #[inline(always)]
    fn by_several<F: super::Several>(x: [Self; 6]) -> Self {
        F::real(x)
    }
    /// A row `F` of up to two complex numbers, or with `"_slope"` its tangent there along the two that follow, which generated code may put
    /// into a function.
    #[inline(always)]
    fn row_of_complex<F>(
        _which: &'static str,
        z: [Complex<Self>; 4],
        run: impl Fn([Complex<Self>; 4]) -> Complex<Self>,
    ) -> Complex<Self> {
        run(z)
    }
    /// An analytic function of a complex number, which generated code may put into a function.
    #[inline(always)]
    fn analytic<F: Analytic>(z: Complex<Self>) -> Complex<Self> {
        outline_complex(F::NAME, z, |z| F::value(z))
    }
    /// The error function.
    #[inline(always)]
    fn erf(self) -> Self {
        Self::elementary::<super::math::Erf>(self)
    }
    /// An elementary function that vectorises.
    fn elementary<F: super::math::Elementary>(x: Self) -> Self;
    /// An elementary function of two variables.
    fn elementary_of_two<F: super::math::ElementaryOfTwo>(a: Self, b: Self) -> Self;
    /// A special function.
    fn special<F: super::special::Function>(x: Self) -> Self;
    /// A special function of two variables.
    fn special_of_two<F: super::special::FunctionOfTwo>(a: Self, b: Self) -> Self;
    /// Whether it is zero. A number that is recorded is not known to be, unless it is a constant.
    #[inline(always)]
    fn is_known_zero(self) -> bool {
        self == Self::zero()
    }
    /// Rounds to the nearest integer, ties to even.
    fn round_ties_even(self) -> Self;
    /// The exact remainder of a truncating division, with the sign of this number.
    #[inline(always)]
    fn left_over(self, divisor: Self) -> Self {
        self % divisor
    }
    /// The same if [`MachineFloat::has_small_quotient`]: branch-free.
    #[inline(always)]
    fn left_over_small(self, divisor: Self) -> Self {
        let (size, below) = (self.abs(), divisor.abs());
        // The quotient is rounded up to an integer at most, and the product is exact relative to the number.
        let left = (-(size / below).trunc()).mul_add(below, size);
        (if left < Self::zero() { left + below } else { left }).copysign(self)
    }
    /// Whether the quotient is small enough that the machine's division gives the right integer.
    #[inline(always)]
    fn has_small_quotient(self, divisor: Self) -> bool {
        let (size, below) = (self.abs(), divisor.abs());
        // NaN may take that path; infinite and zero divisors may not.
        let (is_large, is_endless) = (size * Self::epsilon() >= below * Self::lit(0.5), below == Self::infinity());
        !(is_large | is_endless)
    }
    /// The next representable number towards another.
    fn next_towards(self, other: Self) -> Self;
    /// Multiplied by 2 to the power of an integer, rounded once.
    fn scaled_by(self, exponent: Self) -> Self;
    /// The largest power of two not above the magnitude of this number, which is not 0, infinite or NaN.
    fn binade(self) -> Self;
    /// Rounds to a dtype whose compute type this is.
    fn rounded_to(self, dtype: super::DType) -> Self;
    /// The sum of `lgamma(k + x)` for `k` from `first` to 0 in steps of one half, each step rounded to the dtype.
    #[inline(always)]
    fn sum_of_lgammas(self, first: Self, dtype: super::DType) -> Self {
        let (mut k, mut sum) = (first, Self::zero());
        while k <= Self::zero() {
            sum =
                sum + Self::special::<super::special::function::lgamma>((k + self).rounded_to(dtype)).rounded_to(dtype);
            k = k + Self::lit(0.5);
        }
        sum
    }
    /// The sum of `digamma(k + x)` for the same `k`.
    #[inline(always)]
    fn sum_of_digammas(self, first: Self) -> Self {
        let (mut k, mut sum) = (first, Self::zero());
        while k <= Self::zero() {
            sum = sum + Self::special::<super::special::function::digamma>(k + self);
            k = k + Self::lit(0.5);
        }
        sum
    }
    /// A part of a formula that generated code may put into a function of this name, with one or two results. It captures nothing.
    #[inline(always)]
    fn outline<const N: usize, const M: usize, F: Fn([Self; N]) -> [Self; M]>(
        _name: &'static str,
        arguments: [Self; N],
        part: F,
    ) -> [Self; M] {
        const { assert!(size_of::<F>() == 0 && (M == 1 || M == 2)) }
        part(arguments)
    }
}

/// The outcome of a comparison.
pub trait Truth: Copy {
    /// Whether both are true.
    fn and(self, other: Self) -> Self;
    /// Whether one is true.
    fn or(self, other: Self) -> Self;
    /// The opposite.
    fn not(self) -> Self;
}
impl Truth for bool {
    #[inline(always)]
    fn and(self, other: bool) -> bool {
        self & other
    }
    #[inline(always)]
    fn or(self, other: bool) -> bool {
        self | other
    }
    #[inline(always)]
    fn not(self) -> bool {
        !self
    }
}

/// An analytic function of a complex number, whose derivative is stated.
pub trait Analytic: 'static {
    /// Its name in generated code.
    const NAME: &'static str;
    /// The function.
    fn value<T: MachineFloat>(z: Complex<T>) -> Complex<T>;
    /// The derivative at `z`, where the function is `y`.
    fn derivative<T: MachineFloat>(z: Complex<T>, y: Complex<T>) -> Complex<T>;
}

/// [`MachineFloat::outline`] for a function of a complex number.
#[inline(always)]
pub(crate) fn outline_complex<T: MachineFloat>(
    name: &'static str,
    z: Complex<T>,
    part: impl Fn(Complex<T>) -> Complex<T>,
) -> Complex<T> {
    let [re, im] = T::outline(name, [z.re, z.im], move |[re, im]| {
        let Complex { re, im } = part(Complex { re, im });
        [re, im]
    });
    Complex { re, im }
}

/// `f32: single u32 24 40 libm::scalbnf` writes `impl MachineFloat for f32`: the type of its bits, the bits of its significand, how many
/// more fit a 64-bit integer, and a library function.
macro_rules! machine_floats {
    ($($ty:ident: $single_or_double:ident $bits:ident $digits:literal $more:literal $scaled:path;)*) => {$(
        impl MachineFloat for $ty {
            #[inline(always)]
            fn elementary<F: super::math::Elementary>(x: $ty) -> $ty {
                F::of(x)
            }
            #[inline(always)]
            fn elementary_of_two<F: super::math::ElementaryOfTwo>(a: $ty, b: $ty) -> $ty {
                F::of(a, b)
            }
            #[inline(always)]
            fn special<F: super::special::Function>(x: $ty) -> $ty {
                F::$single_or_double(x)
            }
            #[inline(always)]
            fn special_of_two<F: super::special::FunctionOfTwo>(a: $ty, b: $ty) -> $ty {
                F::$single_or_double(a, b)
            }
            #[inline(always)]
            fn round_ties_even(self) -> $ty {
                <$ty>::round_ties_even(self)
            }
            #[inline(always)]
            fn left_over(self, divisor: $ty) -> $ty {
                if self.has_small_quotient(divisor) {
                    return self.left_over_small(divisor);
                }
                let (size, below) = (self.abs(), divisor.abs());
                // True for NaN, too.
                if !(size < <$ty>::INFINITY && below > 0.0) {
                    return <$ty>::NAN;
                }
                if size < below {
                    return self;
                }
                let (wide_size, wide_below) = (f64::from(size), f64::from(below));
                if wide_size.has_small_quotient(wide_below) {
                    return (wide_size.left_over_small(wide_below) as $ty).copysign(self);
                }
                // Significands as integers with the same exponent; a few bits of the quotient are divided out at a time.
                let parts = |x: $ty| {
                    let (exponent, rest) = (x.to_bits() >> ($digits - 1), x.to_bits() & ((1 << ($digits - 1)) - 1));
                    if exponent == 0 { (1, u64::from(rest)) } else { (exponent, u64::from(rest | 1 << ($digits - 1))) }
                };
                let ((high, size), (low, below)) = (parts(size), parts(below));
                let (mut exponent, mut left) = (high - low, size % below);
                while exponent > 0 && left > 0 {
                    let digits = exponent.min($more);
                    left = (left << digits) % below;
                    exponent -= digits;
                }
                // Times the ulp of the divisor, which may be the smallest denormal.
                let unit = if low > $digits - 1 { (low - ($digits - 1)) << ($digits - 1) } else { 1 << (low - 1) };
                (left as $ty * <$ty>::from_bits(unit)).copysign(self)
            }
            #[inline(always)]
            fn next_towards(self, other: $ty) -> $ty {
                let (bits, is_up) = (self.to_bits(), (other > self) == (self > 0.0));
                let next = if is_up { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
                let next = if self == 0.0 { (1 as $ty).copysign(other).to_bits() & (1 << ($bits::BITS - 1)) | 1 } else { next };
                let next = if self == other { other } else { <$ty>::from_bits(next) };
                if self.is_nan() | other.is_nan() { <$ty>::NAN } else { next }
            }
            #[inline]
            fn scaled_by(self, exponent: $ty) -> $ty {
                $scaled(self, num_traits::ToPrimitive::to_i32(&exponent).unwrap_or(0))
            }
            #[inline(always)]
            fn binade(self) -> $ty {
                // A power of two that makes every denormal number normal.
                const UP: $ty = (1_u64 << $digits) as $ty;
                let is_subnormal = self.abs() < <$ty>::MIN_POSITIVE;
                let normal = if is_subnormal { self * UP } else { self };
                let power = <$ty>::from_bits(normal.to_bits() & <$ty>::INFINITY.to_bits());
                if is_subnormal { power / UP } else { power }
            }
            #[inline(always)]
            fn rounded_to(self, dtype: super::DType) -> $ty {
                match dtype {
                    super::DType::F16 => self.cast::<super::f16>().cast(),
                    super::DType::BF16 => self.cast::<super::bf16>().cast(),
                    _ => self,
                }
            }
        }
    )*};
}
machine_floats! {
    f32: single u32 24 40 libm::scalbnf;
    f64: double u64 53 11 libm::scalbn;
}
