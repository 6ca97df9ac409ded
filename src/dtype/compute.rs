//! How a dtype applies a formula. An operation writes its formula once per category, over machine numbers
//! (`MachineInt`, `MachineFloat`, `Complex<MachineFloat>`); this file sends each dtype to the right one.
//!
//! Adding a dtype touches no formula, adding a formula touches no dtype. Uses machine numbers only; used by
//! `Dtype` (through its `Compute` type) and by `ops`, which holds the formulas.

use super::Castable as _;
use crate::error::Result;
use core::fmt::Debug;
use num_complex::Complex;
use num_traits::{Float, FloatConst, PrimInt, WrappingAdd, WrappingMul, WrappingNeg, WrappingSub};

/// A category for which an operation has no formula. The type system refuses such a use (each operation
/// states the dtypes it admits), so this is never called.
#[cold]
#[inline(never)]
pub fn refused() -> ! {
    #[cfg(any(test, feature = "cuda"))]
    crate::ops::text::refuse();
    unreachable!("the operation does not admit this dtype; its bounds refuse it")
}

/// The integers the machine computes in. Arithmetic wraps.
pub trait MachineInt:
    PrimInt + WrappingAdd + WrappingSub + WrappingMul + WrappingNeg + Debug + Send + Sync + 'static
{
    /// The number of bits.
    const BITS: u32;
    /// Whether there are negative numbers.
    const SIGNED: bool;
    /// The truncating quotient, which wraps at `MIN / -1`, and the remainder with the sign of the dividend. The divisor is not
    /// zero. By a float that holds the quotient exactly enough, where there is one: machines divide floats in vectors.
    fn divided(self, divisor: Self) -> (Self, Self);
    /// The remainder with the sign of the dividend; 0 at `MIN / -1`. The divisor is not zero.
    fn wrapping_remainder(self, divisor: Self) -> Self;
    /// Shifts; an amount out of `0..BITS` shifts everything out (arithmetic to the right).
    fn shift_left(self, amount: Self) -> Self;
    /// Shifts to the right; an amount out of `0..BITS` leaves the sign alone.
    fn shift_right(self, amount: Self) -> Self;
    /// The power, which wraps. The exponent is not negative, or the result is that of integer division.
    fn wrapping_power(self, exponent: Self) -> Self;
    /// The greatest common divisor of two numbers that are not negative, or are the smallest integer.
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
    (@quotient $ty:ty: $a:ident $b:ident itself) => { $a.wrapping_div($b) };
    ($($ty:ty: $signed:literal $by:ident;)*) => {$(
        impl MachineInt for $ty {
            const BITS: u32 = <$ty>::BITS;
            const SIGNED: bool = $signed;
            // A quotient that is no integer is farther from one than floats of more than twice the bits are apart.
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

/// The floats the machine computes in. Formulas see them through this trait alone, so that other numbers may read a formula:
/// one that records its steps, one that carries a derivative along.
pub trait MachineFloat: Float + FloatConst + Debug + Default + Send + Sync + 'static {
    /// The error function.
    #[inline(always)]
    fn erf(self) -> Self {
        Self::elementary::<super::math::Erf>(self)
    }
    /// An elementary function that vectorises.
    fn elementary<F: super::math::Elementary>(x: Self) -> Self;
    /// The same of two variables.
    fn elementary_of_two<F: super::math::ElementaryOfTwo>(a: Self, b: Self) -> Self;
    /// A special function.
    fn special<F: super::special::Function>(x: Self) -> Self;
    /// The same of two variables.
    fn special_of_two<F: super::special::FunctionOfTwo>(a: Self, b: Self) -> Self;
    /// The nearest integer; the even one of two.
    fn round_ties_even(self) -> Self;
    /// C's `copysign` on a literal zero and friends need a constant of the type.
    fn lit(value: f64) -> Self;
    /// The next number towards another.
    fn next_towards(self, other: Self) -> Self;
    /// Times 2 to the power of a whole number, rounded once.
    fn scaled_by(self, exponent: Self) -> Self;
    /// The largest power of two that is not above the magnitude of this number, which is neither 0 nor infinite nor NaN.
    fn binade(self) -> Self;
    /// Rounded to a dtype that computes in this type.
    fn rounded_to(self, dtype: super::DType) -> Self;
    /// The sum of `lgamma(k + x)` for `k` from `first` to 0 by halves, each step rounded to the dtype.
    #[inline]
    fn sum_of_lgammas(self, first: Self, dtype: super::DType) -> Self {
        let (mut k, mut sum) = (first, Self::zero());
        while k <= Self::zero() {
            sum =
                sum + Self::special::<super::special::function::lgamma>((k + self).rounded_to(dtype)).rounded_to(dtype);
            k = k + Self::lit(0.5);
        }
        sum
    }
    /// A part of a formula that may be written once, as a function of this name with one or two results. It captures nothing.
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

/// A function of a complex number that may be written once.
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

/// For `f32 by libm::nextafterf, …` it writes `impl MachineFloat for f32`, with these functions of the library.
macro_rules! machine_floats {
    ($($ty:ident: $single_or_double:ident $next:path, $scaled:path;)*) => {$(
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
            fn lit(value: f64) -> $ty {
                value as $ty
            }
            #[inline]
            fn next_towards(self, other: $ty) -> $ty {
                $next(self, other)
            }
            #[inline]
            fn scaled_by(self, exponent: $ty) -> $ty {
                $scaled(self, num_traits::ToPrimitive::to_i32(&exponent).unwrap_or(0))
            }
            #[inline]
            fn binade(self) -> $ty {
                let (mantissa, exponent, _) = self.integer_decode();
                $scaled(1.0, i32::from(exponent) + (63 - mantissa.leading_zeros() as i32))
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
    f32: single libm::nextafterf, libm::scalbnf;
    f64: double libm::nextafter, libm::scalbn;
}

/// A formula of one variable that stays in its dtype.
pub trait Unary: 'static {
    /// Whether there is another form for usual floating-point numbers, which vectorises.
    const HAS_FAST_PATH: bool = false;
    /// Whether devices may compute `f32` by tables, which gives other last digits.
    const BY_LOOKUP: bool = false;
    /// The form for usual numbers.
    #[inline(always)]
    fn fast_path<T: MachineFloat>(x: T) -> T {
        Self::real(x)
    }
    /// Whether it holds for this number.
    #[inline(always)]
    fn takes_fast_path<T: MachineFloat>(_x: T) -> bool {
        true
    }
    /// The formula for `bool`.
    #[inline(always)]
    fn boolean(_x: bool) -> bool {
        refused()
    }
    /// The formula for integers.
    #[inline(always)]
    fn integer<T: MachineInt>(_x: T) -> T {
        refused()
    }
    /// The formula for floating-point numbers.
    #[inline(always)]
    fn real<T: MachineFloat>(_x: T) -> T {
        refused()
    }
    /// The formula for complex numbers.
    #[inline(always)]
    fn complex<T: MachineFloat>(_z: Complex<T>) -> Complex<T> {
        refused()
    }
}

/// The form of `F` for usual elements; asked as a question, whether an element is one.
pub struct FastPath<F>(core::marker::PhantomData<fn() -> F>);
impl<F: Unary> Unary for FastPath<F> {
    #[inline(always)]
    fn boolean(x: bool) -> bool {
        F::boolean(x)
    }
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        F::integer(x)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        F::fast_path(x)
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        F::complex(z)
    }
}
impl<F: Unary> Predicate for FastPath<F> {
    #[inline(always)]
    fn boolean(_: bool) -> bool {
        true
    }
    #[inline(always)]
    fn integer<T: MachineInt>(_: T) -> bool {
        true
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> bool {
        F::takes_fast_path(x)
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(_: Complex<T>) -> bool {
        true
    }
}

/// A formula of one variable that gives a bool.
pub trait Predicate: 'static {
    /// The formula for `bool`.
    #[inline(always)]
    fn boolean(_x: bool) -> bool {
        refused()
    }
    /// The formula for integers.
    #[inline(always)]
    fn integer<T: MachineInt>(_x: T) -> bool {
        refused()
    }
    /// The formula for floating-point numbers.
    #[inline(always)]
    fn real<T: MachineFloat>(_x: T) -> bool {
        refused()
    }
    /// The formula for complex numbers.
    #[inline(always)]
    fn complex<T: MachineFloat>(_z: Complex<T>) -> bool {
        refused()
    }
}

/// A formula of one variable that makes complex numbers real and leaves the other dtypes.
pub trait ToReal: 'static {
    /// The formula for `bool`.
    #[inline(always)]
    fn boolean(_x: bool) -> bool {
        refused()
    }
    /// The formula for integers.
    #[inline(always)]
    fn integer<T: MachineInt>(_x: T) -> T {
        refused()
    }
    /// The formula for floating-point numbers.
    #[inline(always)]
    fn real<T: MachineFloat>(_x: T) -> T {
        refused()
    }
    /// The formula for complex numbers.
    #[inline(always)]
    fn complex<T: MachineFloat>(_z: Complex<T>) -> T {
        refused()
    }
}

/// The parameters of an operation that has some: up to three; those it does not have are zero.
pub type Parameters<T> = [T; 3];

/// A formula of one variable and parameters that stays in its dtype.
pub trait Tuned: 'static {
    /// The parameters are rounded to the dtype of the operand, also where that computes in a wider one.
    const ROUNDS_PARAMETERS: bool = false;
    /// What `None` stands for as the parameter in this place.
    fn absent(_dtype: super::DType, _place: usize) -> f64 {
        0.0
    }
    /// Why these parameters are refused for this dtype.
    fn refusal(_dtype: super::DType, _parameters: Parameters<f64>) -> Option<&'static str> {
        None
    }
    /// Parameters that follow from the others, in the places that those leave free.
    fn completed(parameters: Parameters<super::ScalarValue>) -> Parameters<super::ScalarValue> {
        parameters
    }
    /// The formula for `bool`.
    #[inline(always)]
    fn boolean(_x: bool, _p: Parameters<bool>) -> bool {
        refused()
    }
    /// The formula for integers.
    #[inline(always)]
    fn integer<T: MachineInt>(_x: T, _p: Parameters<T>) -> T {
        refused()
    }
    /// The formula for floating-point numbers.
    #[inline(always)]
    fn real<T: MachineFloat>(_x: T, _p: Parameters<T>) -> T {
        refused()
    }
    /// The formula for complex numbers.
    #[inline(always)]
    fn complex<T: MachineFloat>(_z: Complex<T>, _p: Parameters<Complex<T>>) -> Complex<T> {
        refused()
    }
}

/// A formula of two variables of one dtype that stays in it.
pub trait Binary: 'static {
    /// Integer division by zero is looked for before the operation runs.
    const DIVIDES: bool = false;
    /// A scalar or zero-dim operand on the right keeps the precision the operation computes in, although it does
    /// not count in promotion (PyTorch: `opmath` in `BinaryOpsKernel.cpp`, for `mul` and the divisions).
    const RIGHT_SCALAR_IS_EXACT: bool = false;
    /// A scalar out of the range of a floating dtype is refused too, as in `full`.
    const CHECKS_FLOAT_SCALARS: bool = false;
    /// The formula for `bool`.
    #[inline(always)]
    fn boolean(_a: bool, _b: bool) -> bool {
        refused()
    }
    /// The formula for integers.
    #[inline(always)]
    fn integer<T: MachineInt>(_a: T, _b: T) -> T {
        refused()
    }
    /// The formula for floating-point numbers.
    #[inline(always)]
    fn real<T: MachineFloat>(_a: T, _b: T) -> T {
        refused()
    }
    /// The formula for complex numbers.
    #[inline(always)]
    fn complex<T: MachineFloat>(_a: Complex<T>, _b: Complex<T>) -> Complex<T> {
        refused()
    }
    /// The same where `b` is a scalar, for operations that treat some scalars apart.
    #[inline(always)]
    fn real_by_scalar<T: MachineFloat>(a: T, b: T) -> T {
        Self::real(a, b)
    }
    /// The formula for a complex number and a scalar on the right, where PyTorch has another.
    #[inline(always)]
    fn complex_by_scalar<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        Self::complex(a, b)
    }
}

/// A formula of two variables of one dtype that gives a bool.
pub trait Compare: 'static {
    /// The formula for `bool`.
    #[inline(always)]
    fn boolean(_a: bool, _b: bool) -> bool {
        refused()
    }
    /// The formula for integers.
    #[inline(always)]
    fn integer<T: MachineInt>(_a: T, _b: T) -> bool {
        refused()
    }
    /// The formula for floating-point numbers.
    #[inline(always)]
    fn real<T: MachineFloat>(_a: T, _b: T) -> bool {
        refused()
    }
    /// The formula for complex numbers.
    #[inline(always)]
    fn complex<T: MachineFloat>(_a: Complex<T>, _b: Complex<T>) -> bool {
        refused()
    }
}

/// Something done once per category rather than once per element, such as a matrix product.
pub trait Visitor {
    /// What the visitor is given, for elements of type `T`.
    type Arg<T>;
    /// The formula for `bool`.
    fn boolean(arg: Self::Arg<bool>) -> Result<()>;
    /// The formula for integers.
    fn integer<T: MachineInt>(arg: Self::Arg<T>) -> Result<()>;
    /// The formula for floating-point numbers.
    fn real<T: MachineFloat>(arg: Self::Arg<T>) -> Result<()>;
    /// The formula for complex numbers.
    fn complex<T: MachineFloat>(arg: Self::Arg<Complex<T>>) -> Result<()>;
}

/// A machine number: the type a dtype computes in, which knows which formula of an operation is its own.
pub trait Compute: Copy + Default + PartialEq + Debug + Send + Sync + 'static {
    /// The type of the real part.
    type Real: Compute + super::Castable;
    /// Applies a formula of one operand.
    fn unary<F: Unary>(self) -> Self;
    /// Applies a formula with parameters.
    fn tuned<F: Tuned>(self, parameters: Parameters<Self>) -> Self;
    /// Asks a question.
    fn predicate<F: Predicate>(self) -> bool;
    /// Applies a formula with a real result.
    fn to_real<F: ToReal>(self) -> Self::Real;
    /// Applies a formula of two operands.
    fn binary<F: Binary>(self, other: Self) -> Self;
    /// Applies a formula of two operands, the right one a scalar.
    fn binary_by_scalar<F: Binary>(self, scalar: Self) -> Self;
    /// Compares.
    fn compare<F: Compare>(self, other: Self) -> bool;
    /// Calls the visitor for this type.
    fn visit<V: Visitor>(arg: V::Arg<Self>) -> Result<()>;
}

/// For `i32` and `integer` this expands to `fn unary<F: Unary>(self) -> i32 { F::integer(self) }` and so on.
macro_rules! computes {
    ($($ty:ty as $real:ty: $formula:ident $by_scalar:ident;)*) => {$(
        impl Compute for $ty {
            type Real = $real;
            #[inline(always)]
            fn unary<F: Unary>(self) -> Self {
                F::$formula(self)
            }
            #[inline(always)]
            fn tuned<F: Tuned>(self, parameters: Parameters<Self>) -> Self {
                F::$formula(self, parameters)
            }
            #[inline(always)]
            fn predicate<F: Predicate>(self) -> bool {
                F::$formula(self)
            }
            #[inline(always)]
            fn to_real<F: ToReal>(self) -> $real {
                F::$formula(self)
            }
            #[inline(always)]
            fn binary<F: Binary>(self, other: Self) -> Self {
                F::$formula(self, other)
            }
            #[inline(always)]
            fn binary_by_scalar<F: Binary>(self, scalar: Self) -> Self {
                F::$by_scalar(self, scalar)
            }
            #[inline(always)]
            fn compare<F: Compare>(self, other: Self) -> bool {
                F::$formula(self, other)
            }
            #[inline(always)]
            fn visit<V: Visitor>(arg: V::Arg<Self>) -> Result<()> {
                V::$formula(arg)
            }
        }
    )*};
}
computes! {
    bool as bool: boolean boolean;
    u8 as u8: integer integer;
    i8 as i8: integer integer;
    i16 as i16: integer integer;
    i32 as i32: integer integer;
    i64 as i64: integer integer;
    f32 as f32: real real_by_scalar;
    f64 as f64: real real_by_scalar;
    Complex<f32> as f32: complex complex_by_scalar;
    Complex<f64> as f64: complex complex_by_scalar;
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! divides {
        ($ty:ty: $numbers:expr) => {
            for a in $numbers {
                for b in $numbers.filter(|&b: &$ty| b != 0) {
                    assert_eq!(a.divided(b), (a.wrapping_div(b), a.wrapping_rem(b)), "{a} / {b}");
                }
            }
        };
    }

    #[test]
    fn integers_divide_exactly_by_floats() {
        divides!(u8: u8::MIN..=u8::MAX);
        divides!(i8: i8::MIN..=i8::MAX);
        divides!(i16: (0..16).flat_map(|n| { let x = 1_i16 << n; [x.wrapping_sub(1), x, x.wrapping_neg(), !x, x ^ 3, x ^ 0x5555] }));
        divides!(i32: (0..32).flat_map(|n| { let x = 1_i32 << n; [x.wrapping_sub(1), x, x.wrapping_neg(), !x, x ^ 3, x ^ 0x5555_5555] }));
        divides!(i64: [i64::MIN, i64::MIN + 1, -7, -1, 0, 1, 7, i64::MAX].into_iter());
        // Quotients just below and at integers, the largest there are.
        for b in [3, 7, 1000, 46_341, 65_537, i32::MAX, -3, -46_341] {
            for quotient in [i32::MAX / b, i32::MAX / b - 1, i32::MIN / b, 1, -1] {
                for a in [
                    quotient.wrapping_mul(b),
                    quotient.wrapping_mul(b).wrapping_sub(1),
                    quotient.wrapping_mul(b).wrapping_add(1),
                ] {
                    assert_eq!(a.divided(b), (a.wrapping_div(b), a.wrapping_rem(b)), "{a} / {b}");
                }
            }
        }
    }
}
