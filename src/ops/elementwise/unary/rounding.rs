//! Formulas of rounding and signs.

use super::super::complex;
use super::*;
use crate::dtype::{MachineFloat, MachineInt, Unary};
use num_complex::Complex;

impl Unary for sign {
    #[inline(always)]
    fn boolean(x: bool) -> bool {
        x
    }
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        if x > T::zero() {
            T::one()
        } else if x < T::zero() {
            T::zero().wrapping_sub(&T::one())
        } else {
            T::zero()
        }
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        if x > T::zero() {
            T::one()
        } else if x < T::zero() {
            -T::one()
        } else {
            T::zero()
        }
    }
}

/// Rounding is the identity on integers.
macro_rules! rounding {
    ($($op:ident: |$x:ident| $rounded:expr;)*) => {$(
        impl Unary for $op {
            #[inline(always)]
            fn integer<T: MachineInt>(x: T) -> T {
                x
            }
            #[inline(always)]
            fn real<T: MachineFloat>($x: T) -> T {
                $rounded
            }
        }
    )*};
}
rounding! {
    floor: |x| x.floor();
    ceil: |x| x.ceil();
    round: |x| x.round_ties_even();
    trunc: |x| x.trunc();
}

super::elementary::real_functions! {
    frac: |x| x - x.trunc();
}

impl Unary for sgn {
    #[inline(always)]
    fn boolean(x: bool) -> bool {
        x
    }
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        <sign as Unary>::integer(x)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        <sign as Unary>::real(x)
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::direction(z)
    }
}
