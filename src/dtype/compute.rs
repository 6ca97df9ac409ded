//! How a dtype applies a formula. An operation writes its formula once per category, over machine numbers (`MachineInt`, `MachineFloat`,
//! `Complex<MachineFloat>`); this file dispatches each dtype to its category's formula.
//!
//! Adding a dtype touches no formula, adding a formula touches no dtype.

use super::{MachineFloat, MachineInt};
use crate::error::Result;
use crate::ops::lanes::LANES;
use crate::ops::slope;
use num_complex::Complex;

/// A category for which an operation has no formula. Never called, because the type system rejects such dtypes (each operation states which
/// ones it admits).
#[cold]
#[inline(never)]
pub fn refused() -> ! {
    crate::ops::record::refuse();
    unreachable!("the operation does not admit this dtype; its bounds refuse it")
}

/// A unary formula whose result has the same dtype.
pub trait Unary: Sized + 'static {
    /// Whether a result computed in a wider dtype is exact for operands of a narrower one.
    const IS_EXACT: bool = false;
    /// What it makes of the bits of a `bf16`, where it changes the sign alone.
    const OF_BITS: Option<fn(u16) -> u16> = None;
    /// Whether there is a vectorised fast path for most floating-point numbers.
    const HAS_FAST_PATH: bool = false;
    /// Whether the fast path is cheap.
    const FAST_PATH_IS_BRIEF: bool = false;
    /// Whether all numbers take the fast path.
    const IS_ALWAYS_FAST: bool = false;
    /// Whether devices may use lookup tables for `f32`, which changes the last digits.
    const BY_LOOKUP: bool = false;
    /// The fast path.
    #[inline(always)]
    fn fast_path<T: MachineFloat>(x: T) -> T {
        Self::real(x)
    }
    /// Whether this number takes the fast path.
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
    /// Whether its derivative needs no loop of its own.
    const SIMPLE: slope::Simple = slope::Simple::No;
    /// Which values the derivative reads: 1 for the operand, 8 for the result.
    const DERIVATIVE_READS: [u32; 3] = [1; 3];
    /// Whether a loop over the derivative waits for arithmetic rather than for memory.
    const DERIVATIVE_IS_LONG: bool = false;
    /// Whether the derivative of the fast path is that of the formula, for the numbers that take it.
    const DERIVATIVE_HAS_FAST_PATH: bool = false;
    /// The derivative at `x`, where the formula gives `_y`. It is read from the formula by dual numbers where nothing else is said.
    #[inline(always)]
    fn derivative<T: MachineFloat>(x: T, _y: T) -> T {
        slope::tangent(x, |x| Self::real(x))
    }
    /// The gradient of a complex number: see `Derivable` in `ops::slope`.
    #[inline(always)]
    fn complex_gradient<T: MachineFloat>(z: Complex<T>, _y: Complex<T>, g: Complex<T>) -> Complex<T> {
        let [re, im] = slope::directions();
        let moved = [Self::complex(slope::moving(z, re)), Self::complex(slope::moving(z, im))];
        Complex::new(slope::along(g, moved[0]), slope::along(g, moved[1]))
    }
}

/// A unary formula with a bool result.
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

/// A unary formula with a real result for complex numbers; other dtypes are kept.
pub trait ToReal: Sized + 'static {
    /// Whether a result computed in a wider dtype is exact for operands of a narrower one.
    const IS_EXACT: bool = false;
    /// What it makes of the bits of a `bf16`, where it changes the sign alone.
    const OF_BITS: Option<fn(u16) -> u16> = None;
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
    /// The derivative at `x`. It is read from the formula by dual numbers where nothing else is said.
    #[inline(always)]
    fn derivative<T: MachineFloat>(x: T) -> T {
        slope::tangent(x, |x| Self::real(x))
    }
    /// The gradient of a complex number, whose result is real.
    #[inline(always)]
    fn complex_gradient<T: MachineFloat>(z: Complex<T>, _y: Complex<T>, g: Complex<T>) -> Complex<T> {
        let [re, im] = slope::directions();
        let moved = [Self::complex(slope::moving(z, re)), Self::complex(slope::moving(z, im))];
        Complex::new(g.re * moved[0].tangent, g.re * moved[1].tangent)
    }
}

/// The parameters of an operation: up to three, the missing ones zero.
pub type Parameters<T> = [T; 3];

/// A unary formula with parameters whose result has the same dtype.
pub trait Tuned: Sized + 'static {
    /// Whether nonnegative numbers are unchanged.
    const KEEPS_POSITIVE: bool = false;
    /// Whether it is a sum of `lgamma`s, as many as the first parameter, of the number shifted by halves.
    const ADDS_LGAMMAS: bool = false;
    /// Whether parameters are rounded to the operand's dtype, even if it computes in a wider one.
    const ROUNDS_PARAMETERS: bool = false;
    /// The default of the parameter with this index.
    fn absent(_dtype: super::DType, _place: usize) -> f64 {
        0.0
    }
    /// Why these parameters are invalid for this dtype.
    fn refusal(_dtype: super::DType, _parameters: Parameters<f64>) -> Option<&'static str> {
        None
    }
    /// Fills in parameters that depend on the others.
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
    /// Whether a loop over it waits for memory rather than for arithmetic.
    const IS_MEMORY_BOUND: bool = false;
    /// Which operands the derivative by each operand reads, as masks, where the first two parameters are operands.
    const DERIVATIVE_READS: [u32; 3] = [7; 3];
    /// The derivative by the operand (0) or by one of the parameters, counted from 1. It is read from the formula by dual numbers where
    /// nothing else is said.
    #[inline(always)]
    fn derivative<T: MachineFloat>(by: usize, x: T, p: Parameters<T>) -> T {
        slope::tuned_derivative::<Self, T>(by, x, p)
    }
}

/// A binary formula whose result has the same dtype.
pub trait Binary: Sized + 'static {
    /// Whether a result computed in a wider dtype is exact for operands of a narrower one.
    const IS_EXACT: bool = false;
    /// The same of the bits of two `bf16`, where that takes no arithmetic of floats.
    const OF_BITS: Option<fn(u16, u16) -> u16> = None;
    /// Whether integer division by zero must be checked before the operation runs.
    const DIVIDES: bool = false;
    /// Whether there is a vectorised fast path for most floating-point numbers.
    const HAS_FAST_PATH: bool = false;
    /// The same where `b` is a scalar.
    const SCALAR_HAS_FAST_PATH: bool = Self::HAS_FAST_PATH;
    /// Whether a scalar or zero-dim right operand keeps the compute type's precision, although it does not take part in promotion (PyTorch:
    /// `opmath` in `BinaryOpsKernel.cpp`, for `mul` and the divisions).
    const RIGHT_SCALAR_IS_EXACT: bool = false;
    /// Whether a scalar out of range of a floating dtype is an error, as in `full`.
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
    /// The formula for floating-point numbers where `b` is a scalar, if it differs.
    #[inline(always)]
    fn real_by_scalar<T: MachineFloat>(a: T, b: T) -> T {
        Self::real(a, b)
    }
    /// The fast path.
    #[inline(always)]
    fn fast_path<T: MachineFloat>(a: T, b: T) -> T {
        Self::real(a, b)
    }
    /// Whether these numbers take the fast path.
    #[inline(always)]
    fn takes_fast_path<T: MachineFloat>(_a: T, _b: T) -> bool {
        true
    }
    /// The fast path where `b` is a scalar, if it differs.
    #[inline(always)]
    fn fast_path_by_scalar<T: MachineFloat>(a: T, b: T) -> T {
        Self::fast_path(a, b)
    }
    /// Whether these numbers take that fast path.
    #[inline(always)]
    fn takes_fast_path_by_scalar<T: MachineFloat>(a: T, b: T) -> bool {
        Self::takes_fast_path(a, b)
    }
    /// The formula for complex numbers where `b` is a scalar, if it differs.
    #[inline(always)]
    fn complex_by_scalar<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        Self::complex(a, b)
    }
    /// Whether its derivatives need no loops of their own.
    const SIMPLE: slope::Simple = slope::Simple::No;
    /// What it does where several elements are written at one place.
    const MERGING: slope::Merging = slope::Merging::Missing;
    /// Which operands the derivative by each operand reads, as masks.
    const DERIVATIVE_READS: [u32; 3] = [3; 3];
    /// The derivative by one operand. It is read from the formula by dual numbers where nothing else is said.
    #[inline(always)]
    fn derivative<T: MachineFloat>(by: usize, a: T, b: T) -> T {
        slope::binary_derivative::<Self, T>(by, a, b)
    }
    /// The gradient of a complex number: see `Derivable` in `ops::slope`.
    #[inline(always)]
    fn complex_gradient<T: MachineFloat>(by: usize, a: Complex<T>, b: Complex<T>, g: Complex<T>) -> Complex<T> {
        slope::complex_binary_gradient::<Self, T>(by, [a, b], g)
    }
}

/// A formula of up to six operands; those that it does not have are zero.
pub trait Several: Sized + 'static {
    /// The formula for `bool`.
    #[inline(always)]
    fn boolean(_x: [bool; 6]) -> bool {
        refused()
    }
    /// The formula for integers.
    #[inline(always)]
    fn integer<T: MachineInt>(_x: [T; 6]) -> T {
        refused()
    }
    /// The formula for floating-point numbers.
    fn real<T: MachineFloat>(x: [T; 6]) -> T;
    /// The derivative by one operand.
    fn derivative<T: MachineFloat>(by: usize, x: [T; 6]) -> T;
    /// The formula for `bool`s side by side.
    #[inline(always)]
    fn boolean_lanes(_x: [[bool; LANES]; 6]) -> [bool; LANES] {
        refused()
    }
    /// The formula for integers side by side.
    #[inline(always)]
    fn integer_lanes<T: MachineInt>(_x: [[T; LANES]; 6]) -> [T; LANES] {
        refused()
    }
    /// The formula for floating-point numbers side by side.
    fn real_lanes<T: MachineFloat>(x: [[T; LANES]; 6]) -> [T; LANES];
    /// The formula for complex numbers side by side.
    #[inline(always)]
    fn complex_lanes<T: MachineFloat>(_x: [[Complex<T>; LANES]; 6]) -> [Complex<T>; LANES] {
        refused()
    }
    /// The formula for complex numbers.
    #[inline(always)]
    fn complex<T: MachineFloat>(_x: [Complex<T>; 6]) -> Complex<T> {
        refused()
    }
}

/// A formula of two lists of numbers, which fills a third one.
pub trait Many: 'static {
    /// The formula for `bool`.
    #[inline(always)]
    fn boolean(_a: &[bool], _b: &[bool], _out: &mut [bool]) {
        refused()
    }
    /// The formula for integers.
    #[inline(always)]
    fn integer<T: MachineInt>(_a: &[T], _b: &[T], _out: &mut [T]) {
        refused()
    }
    /// The formula for floating-point numbers.
    fn real<T: MachineFloat>(a: &[T], b: &[T], out: &mut [T]);
    /// The formula for complex numbers.
    #[inline(always)]
    fn complex<T: MachineFloat>(_a: &[Complex<T>], _b: &[Complex<T>], _out: &mut [Complex<T>]) {
        refused()
    }
}

/// A binary formula with a bool result.
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

/// A computation dispatched once per category rather than once per element, such as a matrix product.
pub trait Visitor {
    /// The visitor's argument, for elements of type `T`.
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

/// A machine number: the compute type of a dtype, which selects the formula of its category. Also implemented by numbers that record a
/// formula or carry a tangent.
pub trait Compute: super::numbers::MachineElement + PartialEq {
    /// The type of the real part.
    type Real: Compute;
    /// Converts an `f64`, rounding.
    fn number(value: f64) -> Self;
    /// Applies a formula of one operand.
    fn unary<F: Unary>(self) -> Self;
    /// Applies a formula with parameters.
    fn tuned<F: Tuned>(self, parameters: Parameters<Self>) -> Self;
    /// Applies a predicate.
    fn predicate<F: Predicate>(self) -> bool;
    /// Applies a formula with a real result.
    fn to_real<F: ToReal>(self) -> Self::Real;
    /// Applies a formula of two operands.
    fn binary<F: Binary>(self, other: Self) -> Self;
    /// Applies a binary formula with a scalar right operand.
    fn binary_by_scalar<F: Binary>(self, scalar: Self) -> Self;
    /// Applies a comparison.
    fn compare<F: Compare>(self, other: Self) -> bool;
    /// Applies a formula of several operands.
    fn several<F: Several>(x: [Self; 6]) -> Self;
    /// The same of elements side by side.
    fn several_lanes<F: Several>(x: [[Self; LANES]; 6]) -> [Self; LANES];
    /// Applies a formula of lists.
    fn many<F: Many>(a: &[Self], b: &[Self], out: &mut [Self]);
    /// Calls the visitor for this type.
    fn visit<V: Visitor>(arg: V::Arg<Self>) -> Result<()>;
}

/// For `i32` and `integer` this expands to `fn unary<F: Unary>(self) -> i32 { F::integer(self) }` and so on. The constructor of numbers
/// comes before the rows.
macro_rules! computes {
    (by $number:path; $($ty:ty as $real:ty: $formula:ident $by_scalar:ident $lanes:ident;)*) => {$(
        impl Compute for $ty {
            type Real = $real;
            #[inline(always)]
            fn number(value: f64) -> Self {
                $number(value)
            }
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
            fn several<F: $crate::dtype::Several>(x: [Self; 6]) -> Self {
                F::$formula(x)
            }
            #[inline(always)]
            fn several_lanes<F: $crate::dtype::Several>(
                x: [[Self; $crate::ops::lanes::LANES]; 6],
            ) -> [Self; $crate::ops::lanes::LANES] {
                F::$lanes(x)
            }
            #[inline(always)]
            fn many<F: $crate::dtype::Many>(a: &[Self], b: &[Self], out: &mut [Self]) {
                F::$formula(a, b, out)
            }
            #[inline(always)]
            fn visit<V: Visitor>(arg: V::Arg<Self>) -> Result<()> {
                V::$formula(arg)
            }
        }
    )*};
}
computes! { by super::Castable::from_f64;
    bool as bool: boolean boolean boolean_lanes;
    u8 as u8: integer integer integer_lanes;
    i8 as i8: integer integer integer_lanes;
    i16 as i16: integer integer integer_lanes;
    i32 as i32: integer integer integer_lanes;
    i64 as i64: integer integer integer_lanes;
    f32 as f32: real real_by_scalar real_lanes;
    f64 as f64: real real_by_scalar real_lanes;
    Complex<f32> as f32: complex complex_by_scalar complex_lanes;
    Complex<f64> as f64: complex complex_by_scalar complex_lanes;
}

#[allow(unused_imports, reason = "for recorded numbers, where formulas are recorded")]
pub(crate) use computes;

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
        // Quotients of the largest numbers, just below integers and at integers.
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
