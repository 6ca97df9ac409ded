//! Formulas of logic, bits and predicates.

use super::*;
use crate::dtype::{MachineFloat, MachineInt, Predicate, Unary};
use num_complex::Complex;

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
