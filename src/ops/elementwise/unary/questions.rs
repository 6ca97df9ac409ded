//! Formulas of logic, bits and predicates.

use super::*;
use crate::dtype::{MachineFloat, MachineInt, Predicate, Unary};
use num_complex::Complex;

/// The rows of questions with a bool as the answer in the table of unary operations.
macro_rules! questions_rows {
    ($reader:tt { $($rows:tt)* } $($files:ident)*) => {
        $crate::ops::table::joined! { $reader { $($rows)*
            logical_not { any boolean,
                "Whether each element is zero.", "torch.logical_not",
                "tensor![0, 2]" = "[true, false]", refuses_shell_outputs }
            bitwise_not { bits same,
                "Every bit inverted; bools negated.", "torch.bitwise_not",
                "tensor![0, 5]" = "[-1, -6]" }
            isnan { any boolean,
                "Whether each element is NaN, in either part of a complex number.", "torch.isnan",
                "tensor![1.0, f32::NAN]" = "[false, true]", fails_of_integers }
            isinf { any boolean,
                "Whether each element is infinite, in either part of a complex number.", "torch.isinf",
                "tensor![1.0, f32::INFINITY]" = "[false, true]", fails_of_integers }
            isfinite { any boolean,
                "Whether each element is neither infinite nor NaN, in both parts of a complex number.", "torch.isfinite",
                "tensor![1.0, f32::NAN]" = "[true, false]", holds_of_integers }
            isneginf { ordered mask,
                "Whether each element is minus infinity.", "torch.isneginf",
                "tensor![1.0, f32::NEG_INFINITY]" = "[false, true]", fails_of_integers }
            isposinf { ordered mask,
                "Whether each element is plus infinity.", "torch.isposinf",
                "tensor![1.0, f32::INFINITY]" = "[false, true]", fails_of_integers }
            signbit { ordered mask,
                "Whether each element is negative; minus zero is.", "torch.signbit",
                "tensor![-0.0, 1.0]" = "[true, false]" }
            isreal { any boolean,
                "Whether each element has no imaginary part.", "torch.isreal",
                "tensor![1.0 + 0.0j, 2.0j]" = "[true, false]", holds_of_reals }
        } $($files)* }
    };
}
pub(crate) use questions_rows;

impl Unary for bitwise_not {
    #[inline(always)]
    fn boolean(x: bool) -> bool {
        !x
    }
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        !x
    }
}

impl Predicate for logical_not {
    #[inline(always)]
    fn boolean(x: bool) -> bool {
        !x
    }
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> bool {
        x == T::zero()
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> bool {
        x == T::zero()
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> bool {
        z.re == T::zero() && z.im == T::zero()
    }
}

/// Predicates of floats, constant for bools and integers.
macro_rules! float_questions {
    ($($op:ident: else $exact:literal; |$x:ident| $real:expr; |$z:ident| $complex:expr;)*) => {$(
        impl Predicate for $op {
            #[inline(always)]
            fn boolean(_x: bool) -> bool {
                $exact
            }
            #[inline(always)]
            fn integer<T: MachineInt>(_x: T) -> bool {
                $exact
            }
            #[inline(always)]
            fn real<T: MachineFloat>($x: T) -> bool {
                $real
            }
            #[inline(always)]
            fn complex<T: MachineFloat>($z: Complex<T>) -> bool {
                $complex
            }
        }
    )*};
}
float_questions! {
    isnan: else false; |x| x.is_nan(); |z| z.re.is_nan() || z.im.is_nan();
    isinf: else false; |x| x.is_infinite(); |z| z.re.is_infinite() || z.im.is_infinite();
    isfinite: else true; |x| x.is_finite(); |z| z.re.is_finite() && z.im.is_finite();
    isreal: else true; |_x| true; |z| z.im == T::zero();
    isneginf: else false; |x| x == T::neg_infinity(); |_z| false;
    isposinf: else false; |x| x == T::infinity(); |_z| false;
}

impl Predicate for signbit {
    #[inline(always)]
    fn boolean(_x: bool) -> bool {
        false
    }
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> bool {
        x < T::zero()
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> bool {
        x.is_sign_negative()
    }
}
