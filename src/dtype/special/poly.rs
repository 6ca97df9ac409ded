//! Polynomials of the special functions, and selection between computed values.
//!
//! Plain branch-free arithmetic over any machine float: loops over it vectorise, and it can be recorded. The coefficients of `horner!` were
//! fitted for this crate at the Chebyshev nodes with mpmath at 50 digits, then rounded.

use crate::dtype::MachineFloat;

/// A polynomial in `$x`, highest power first; evaluated in pairs of terms and powers of `$x` squared, which halves the dependency chain.
macro_rules! horner {
    ($x:expr; $($terms:literal),* $(,)?) => {{
        let x = $x;
        horner!(@pairs x, x * x; $($terms),*)
    }};
    (@pairs $x:ident, $square:expr; $a:literal $(, $b:literal, $c:literal)*) => {{
        let square = $square;
        let value = T::lit($a);
        $(let value = value.mul_add(square, $x.mul_add(T::lit($b), T::lit($c)));)*
        value
    }};
    (@pairs $x:ident, $square:expr; $a:literal, $b:literal $(, $c:literal, $d:literal)*) => {{
        let square = $square;
        let value = $x.mul_add(T::lit($a), T::lit($b));
        $(let value = value.mul_add(square, $x.mul_add(T::lit($c), T::lit($d)));)*
        value
    }};
}
pub(super) use crate::dtype::math::pick;
pub(super) use horner;

/// One of two polynomials of the same degree, highest power first.
#[inline(always)]
pub(super) fn either<T: MachineFloat, const N: usize>(first: bool, x: T, one: &[f64; N], other: &[f64; N]) -> T {
    let mut value = T::lit(0.0);
    let mut at = 0;
    while at < N {
        value = value.mul_add(x, pick(first, T::lit(one[at]), T::lit(other[at])));
        at += 1;
    }
    value
}

/// A polynomial, the highest power first.
#[inline(always)]
pub(super) fn polynomial<T: MachineFloat>(x: T, coefficients: &[f64]) -> T {
    coefficients.iter().fold(T::zero(), |value, &coefficient| value.mul_add(x, T::lit(coefficient)))
}
