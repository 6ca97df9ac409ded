//! Formulas of bitwise operations, shifts, comparisons and logic.

use super::*;
use crate::dtype::{Compare, MachineFloat, MachineInt};
use num_complex::Complex;

macro_rules! bitwise {
    ($($op:ident: $sign:tt;)*) => {$(
        impl Binary for $op {
            #[inline(always)]
            fn boolean(a: bool, b: bool) -> bool {
                a $sign b
            }
            #[inline(always)]
            fn integer<T: MachineInt>(a: T, b: T) -> T {
                a $sign b
            }
        }
    )*};
}
bitwise! {
    bitwise_and: &;
    bitwise_or: |;
    bitwise_xor: ^;
}

impl Binary for bitwise_left_shift {
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        a.shift_left(b)
    }
}

impl Binary for bitwise_right_shift {
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        a.shift_right(b)
    }
}

macro_rules! comparisons {
    ($($op:ident: $sign:tt $($complex:ident)?;)*) => {$(
        impl Compare for $op {
            // `!a & b` is `a < b` on bools, but less clear.
            #[allow(clippy::bool_comparison)]
            #[inline(always)]
            fn boolean(a: bool, b: bool) -> bool {
                a $sign b
            }
            #[inline(always)]
            fn integer<T: MachineInt>(a: T, b: T) -> bool {
                a $sign b
            }
            #[inline(always)]
            fn real<T: MachineFloat>(a: T, b: T) -> bool {
                a $sign b
            }
            $(
                #[inline(always)]
                fn $complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> bool {
                    a $sign b
                }
            )?
        }
    )*};
}
comparisons! {
    eq: == complex;
    ne: != complex;
    lt: <;
    le: <=;
    gt: >;
    ge: >=;
}

macro_rules! logical {
    ($($op:ident: $sign:tt;)*) => {$(
        impl Compare for $op {
            #[inline(always)]
            fn boolean(a: bool, b: bool) -> bool {
                a $sign b
            }
            #[inline(always)]
            fn integer<T: MachineInt>(a: T, b: T) -> bool {
                (a != T::zero()) $sign (b != T::zero())
            }
            #[inline(always)]
            fn real<T: MachineFloat>(a: T, b: T) -> bool {
                (a != T::zero()) $sign (b != T::zero())
            }
            #[inline(always)]
            fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> bool {
                (a != Complex::default()) $sign (b != Complex::default())
            }
        }
    )*};
}
logical! {
    logical_and: &;
    logical_or: |;
    logical_xor: ^;
}
