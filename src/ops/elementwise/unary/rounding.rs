//! Formulas of rounding and signs.

use super::super::complex;
use super::*;
use crate::dtype::{MachineFloat, MachineInt, Unary};
use crate::ops::slope::Simple;
use num_complex::Complex;

/// The rows of rounding and signs in the table of unary operations.
macro_rules! rounding_rows {
    ($reader:tt { $($rows:tt)* } $($files:ident)*) => {
        $crate::ops::table::joined! { $reader { $($rows)*
            sign { ordered same,
                "-1, 0 or 1 by the sign; 0 for NaN.", "torch.sign",
                "tensor![-2.5, 0.0, 7.0]" = "[-1.0, 0.0, 1.0]" }
            floor { real same,
                "Rounds down. Integers stay.", "torch.floor",
                "tensor![-1.5, 1.5]" = "[-2.0, 1.0]" }
            ceil { real same,
                "Rounds up. Integers stay.", "torch.ceil",
                "tensor![-1.5, 1.5]" = "[-1.0, 2.0]" }
            round { real same,
                "Rounds to the nearest integer, halves to even. Integers stay.", "torch.round`, `torch.special.round",
                "tensor![0.5, 1.5, 2.5]" = "[0.0, 2.0, 2.0]" }
            trunc { real same,
                "Rounds towards zero. Integers stay.", "torch.trunc",
                "tensor![-1.5, 1.5]" = "[-1.0, 1.0]" }
            sgn { any same,
                "The sign of real numbers, as [`sign`](crate::Tensor::sign); of complex ones the number of modulus 1 in their direction, and 0 of 0.", "torch.sgn",
                "tensor![-2.5, 7.0]" = "[-1.0, 1.0]" }
            fix { real same,
                "The same function as [`trunc`](crate::Tensor::trunc).", "torch.fix",
                "tensor![-1.5, 1.5]" = "[-1.0, 1.0]" }
            frac { float same,
                "What [`trunc`](crate::Tensor::trunc) leaves over.", "torch.frac",
                "tensor![-1.5, 2.25]" = "[-0.5, 0.25]" }
        } $($files)* }
    };
}
pub(crate) use rounding_rows;

impl Unary for sign {
    const SIMPLE: Simple = Simple::Flat;
    const DERIVATIVE_READS: [u32; 3] = [0; 3];
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
            const SIMPLE: Simple = Simple::Flat;
            const DERIVATIVE_READS: [u32; 3] = [0; 3];
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
    /// The part of the gradient across the direction, over the modulus; 0 at 0.
    #[inline(always)]
    fn complex_gradient<T: MachineFloat>(z: Complex<T>, _y: Complex<T>, g: Complex<T>) -> Complex<T> {
        let modulus = <abs as ToReal>::complex(z);
        let direction = complex::direction(z);
        let along = g.re * direction.re + g.im * direction.im;
        if modulus == T::zero() { Complex::new(T::zero(), T::zero()) } else { (g - direction * along) / modulus }
    }
}
