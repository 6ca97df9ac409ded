//! The numbers of formulas that programs write: operators, constants, comparisons and the functions of castiron's operations, each for the
//! sets of numbers that it is defined for.

use crate::dtype::numbers::{MachineBits, MachineComplex, MachineElement, MachineInexact, MachineNumber, MachineReal};
use crate::dtype::{Binary, MachineFloat, MachineInt, Truth, Unary};
use crate::ops;
use crate::sealed::Sealed;
use core::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Mul, MulAssign,
    Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

/// A number in a formula: of an element, of a recorded kernel, or with a derivative.
///
/// It has Rust's operators, also beside `f64` and `i32`, and the functions of castiron's operations under their names: those of the set of
/// numbers that the formula is written for. Integers wrap; divided by zero they give 0, since a formula computes for all elements what
/// [`select`] chooses from.
#[derive(Clone, Copy, Debug)]
pub struct Number<T>(pub(crate) T);

/// What a comparison of numbers gives: true or false for each element. [`select`] chooses by it; where a number is expected, it is 1 or 0.
pub struct Mask<T: MachineElement>(pub(super) T::Truth);
impl<T: MachineElement> Clone for Mask<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: MachineElement> Copy for Mask<T> {}

/// A number of a formula, or a constant that is one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no number of a formula",
    label = "expected one of its operands, what was computed of them, or an `f64` or `i32`",
    note = "other constants are converted, `n as f64`; a value that is known only while running is an operand of the formula"
)]
pub trait IntoNumber<T>: Sealed {
    /// The number.
    fn into_number(self) -> Number<T>;
}
impl<T: MachineInexact> From<f64> for Number<T> {
    #[inline(always)]
    fn from(value: f64) -> Self {
        Number(T::lit(value))
    }
}
/// Integers of narrower dtypes wrap.
impl<T: MachineNumber> From<i64> for Number<T> {
    #[inline(always)]
    fn from(value: i64) -> Self {
        Number(T::whole(value))
    }
}
impl<T> Sealed for Number<T> {}
impl<T: MachineElement> Sealed for Mask<T> {}
impl<T: MachineElement> IntoNumber<T> for Number<T> {
    #[inline(always)]
    fn into_number(self) -> Number<T> {
        self
    }
}
impl<T: MachineElement> IntoNumber<T> for Mask<T> {
    #[inline(always)]
    fn into_number(self) -> Number<T> {
        Number(T::of_truth(self.0))
    }
}
macro_rules! constants {
    ($($ty:ty: $set:ident $make:ident, $($trait:ident $method:ident $of:ident),*;)*) => {$(
        impl<T: $set> IntoNumber<T> for $ty {
            #[inline(always)]
            fn into_number(self) -> Number<T> {
                Number(T::$make(self.into()))
            }
        }
        $(
            impl<T: $of> $trait<$ty> for Number<T> {
                type Output = Number<T>;
                #[inline(always)]
                fn $method(self, other: $ty) -> Number<T> {
                    self.$method(IntoNumber::<T>::into_number(other))
                }
            }
            impl<T: $of> $trait<Number<T>> for $ty {
                type Output = Number<T>;
                #[inline(always)]
                fn $method(self, other: Number<T>) -> Number<T> {
                    IntoNumber::<T>::into_number(self).$method(other)
                }
            }
        )*
    )*};
}
constants! {
    f64: MachineInexact lit, Add add MachineInexact, Sub sub MachineInexact, Mul mul MachineInexact, Div div MachineInexact, Rem rem MachineFloat;
    i32: MachineNumber whole, Add add MachineNumber, Sub sub MachineNumber, Mul mul MachineNumber, Div div MachineInexact, Rem rem MachineReal,
        BitAnd bitand MachineInt, BitOr bitor MachineInt, BitXor bitxor MachineInt, Shl shl MachineInt, Shr shr MachineInt;
}

/// The operators have the formulas of the operations that they are on tensors.
macro_rules! operators {
    ($($trait:ident $method:ident $assign:ident $assigned:ident $set:ident $op:ident;)*) => {$(
        impl<T: $set> $trait for Number<T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Number(self.0.by_binary::<ops::$op>(other.0))
            }
        }
        impl<T: $set, R: IntoNumber<T>> $assign<R> for Number<T> {
            #[inline(always)]
            fn $assigned(&mut self, other: R) {
                *self = self.$method(other.into_number());
            }
        }
    )*};
}
operators! {
    Add add AddAssign add_assign MachineNumber add;
    Sub sub SubAssign sub_assign MachineNumber sub;
    Mul mul MulAssign mul_assign MachineNumber mul;
    Div div DivAssign div_assign MachineInexact div;
    Rem rem RemAssign rem_assign MachineReal remainder;
    BitAnd bitand BitAndAssign bitand_assign MachineBits bitwise_and;
    BitOr bitor BitOrAssign bitor_assign MachineBits bitwise_or;
    BitXor bitxor BitXorAssign bitxor_assign MachineBits bitwise_xor;
    Shl shl ShlAssign shl_assign MachineInt bitwise_left_shift;
    Shr shr ShrAssign shr_assign MachineInt bitwise_right_shift;
}
macro_rules! operators_of_one {
    ($($trait:ident $method:ident $set:ident $op:ident;)*) => {$(
        impl<T: $set> $trait for Number<T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self) -> Self {
                Number(self.0.by_unary::<ops::$op>())
            }
        }
    )*};
}
operators_of_one! {
    Neg neg MachineNumber neg;
    Not not MachineBits bitwise_not;
}

/// Whether two names are one.
const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}
/// Whether the function of this name has a path that only most numbers take.
#[doc(hidden)]
pub const fn has_fast_path(name: &str) -> bool {
    unary_has_fast_path(name) || binary_has_fast_path(name)
}
/// The functions of one number, by the numbers that they are defined for.
macro_rules! functions {
    ($($set:ident: $($op:ident)*;)*) => {
        const fn unary_has_fast_path(name: &str) -> bool {
            $($((<ops::$op as Unary>::HAS_FAST_PATH && !<ops::$op as Unary>::IS_ALWAYS_FAST && is_same(name, stringify!($op))) ||)*)* false
        }
        impl<T: MachineElement> Number<T> {$($(
            #[doc = concat!("As [`Tensor::", stringify!($op), "`](crate::Tensor::", stringify!($op), ").")]
            #[inline(always)]
            pub fn $op(self) -> Self
            where
                T: $set,
            {
                Number(self.0.by_unary::<ops::$op>())
            }
        )*)*}
    };
}
functions! {
    MachineNumber: square;
    MachineReal: floor ceil trunc round sign relu;
    MachineInexact: exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal
        sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sinc sigmoid silu;
    MachineFloat: erf erfc erfinv lgamma digamma i0 frac mish gelu logsigmoid;
    MachineComplex: conj sgn;
}
/// The functions of two numbers.
macro_rules! functions_of_two {
    ($($set:ident: $($op:ident)*;)*) => {
        const fn binary_has_fast_path(name: &str) -> bool {
            $($((<ops::$op as Binary>::HAS_FAST_PATH && is_same(name, stringify!($op))) ||)*)* false
        }
        impl<T: MachineElement> Number<T> {$($(
            #[doc = concat!("As [`Tensor::", stringify!($op), "`](crate::Tensor::", stringify!($op), ").")]
            #[inline(always)]
            pub fn $op(self, other: impl IntoNumber<T>) -> Self
            where
                T: $set,
            {
                Number(self.0.by_binary::<ops::$op>(other.into_number().0))
            }
        )*)*}
    };
}
functions_of_two! {
    MachineNumber: pow;
    MachineReal: maximum minimum remainder fmod floor_divide trunc_divide;
    MachineFloat: atan2 hypot copysign xlogy;
    MachineInt: gcd lcm;
}
impl<T: MachineElement> Number<T> {
    /// As [`Tensor::abs`](crate::Tensor::abs); a complex number becomes one without an imaginary part.
    #[inline(always)]
    pub fn abs(self) -> Self
    where
        T: MachineNumber,
    {
        Number(self.0.by_real::<ops::abs>())
    }
    /// As [`Tensor::softsign`](crate::Tensor::softsign).
    #[inline(always)]
    pub fn softsign(self) -> Self
    where
        T: MachineInexact,
    {
        // (The row of this name has the divisor.)
        self / Number(self.0.by_unary::<ops::softsign>())
    }
    /// Limited to at least `low` and at most `high`, as [`Tensor::clamp`](crate::Tensor::clamp).
    #[inline(always)]
    pub fn clamp(self, low: impl IntoNumber<T>, high: impl IntoNumber<T>) -> Self
    where
        T: MachineReal,
    {
        self.maximum(low).minimum(high)
    }
    /// `self < other`
    #[inline(always)]
    pub fn lt(self, other: impl IntoNumber<T>) -> Mask<T>
    where
        T: MachineReal,
    {
        Mask(self.0.less(other.into_number().0))
    }
    /// `self > other`
    #[inline(always)]
    pub fn gt(self, other: impl IntoNumber<T>) -> Mask<T>
    where
        T: MachineReal,
    {
        Mask(other.into_number().0.less(self.0))
    }
    /// `self == other`
    #[inline(always)]
    pub fn eq(self, other: impl IntoNumber<T>) -> Mask<T> {
        Mask(self.0.same(other.into_number().0))
    }
    /// `self <= other`
    #[inline(always)]
    pub fn le(self, other: impl IntoNumber<T>) -> Mask<T>
    where
        T: MachineReal,
    {
        let other = other.into_number();
        self.lt(other) | self.eq(other)
    }
    /// `self >= other`
    #[inline(always)]
    pub fn ge(self, other: impl IntoNumber<T>) -> Mask<T>
    where
        T: MachineReal,
    {
        let other = other.into_number();
        self.gt(other) | self.eq(other)
    }
    /// `self != other`
    #[inline(always)]
    pub fn ne(self, other: impl IntoNumber<T>) -> Mask<T> {
        !self.eq(other)
    }
    /// Whether it is no number.
    #[inline(always)]
    pub fn isnan(self) -> Mask<T> {
        self.ne(self)
    }
    /// A complex constant: `C::complex(0.0, 1.0)` is the imaginary unit.
    #[inline(always)]
    pub fn complex(re: f64, im: f64) -> Self
    where
        T: MachineComplex,
    {
        Number(T::parts(re, im))
    }
    /// The real part, as a number without an imaginary part.
    #[inline(always)]
    pub fn real(self) -> Self
    where
        T: MachineComplex,
    {
        Number(self.0.real_part())
    }
    /// The imaginary part, as a number without one.
    #[inline(always)]
    pub fn imag(self) -> Self
    where
        T: MachineComplex,
    {
        Number(self.0.imaginary_part())
    }
    /// Whether the real part is less than that of `other`. Complex numbers themselves have no order.
    #[inline(always)]
    pub fn real_lt(self, other: impl IntoNumber<T>) -> Mask<T>
    where
        T: MachineComplex,
    {
        Mask(self.0.real_less(other.into_number().0))
    }
}
impl<T: MachineElement> Mask<T> {
    /// 1 where it is true, else 0.
    #[inline(always)]
    pub fn into_number(self) -> Number<T> {
        Number(T::of_truth(self.0))
    }
}
impl<T: MachineElement> BitAnd for Mask<T> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Mask(self.0.and(other.0))
    }
}
impl<T: MachineElement> BitOr for Mask<T> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Mask(self.0.or(other.0))
    }
}
impl<T: MachineElement> BitXor for Mask<T> {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        (self | other) & !(self & other)
    }
}
impl<T: MachineElement> Not for Mask<T> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Mask(self.0.not())
    }
}

/// `yes` where the mask is true, else `no`: both are computed, and no element waits for another. As [`where_`](crate::where_) of tensors.
#[inline(always)]
pub fn select<T: MachineElement>(mask: Mask<T>, yes: impl IntoNumber<T>, no: impl IntoNumber<T>) -> Number<T> {
    Number(T::select(mask.0, yes.into_number().0, no.into_number().0))
}
/// An operand that is a mask: it is computed with as a number.
#[doc(hidden)]
#[inline(always)]
pub fn mask<T: MachineElement>(of: Number<T>) -> Mask<T> {
    Mask(of.0.is_true())
}
