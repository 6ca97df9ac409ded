//! The operations of one operand: their markers, result dtypes and formulas.
//!
//! A formula stands once per category. Complex formulas follow PyTorch's (`c10/util/complex.h`,
//! `aten/src/ATen/native/cpu/UnaryOpsKernel.cpp`) in what they make of zeros, infinities and NaN.

use super::admit::*;
use super::table::unary_table;
use super::{Op, complex};
use crate::dtype::{Castable, Compute, Dtype, MachineFloat, MachineInt, Predicate, ToReal, Unary};
use num_complex::Complex;

/// An operation of one operand on elements of dtype `E`: the result dtype, and the function.
pub trait UnaryOp<E: Dtype>: Op {
    /// The dtype of the result.
    type Output: Dtype;
    /// One element.
    #[doc(hidden)]
    fn apply(x: E) -> Self::Output;
}

/// For `exp […] any inexact` it writes the marker `exp` and
/// `impl<E: Dtype> UnaryOp<E> for exp { type Output = E::Inexact; … }`.
macro_rules! unary_ops {
    ($($op:ident [$($method:ident)*] $admits:ident $result:ident, $doc:literal, $torch:literal, $example:literal = $elements:literal;)*) => {$(
        #[doc = concat!("The operation `", stringify!($op), "`: ", $doc)]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $op {}
        impl Op for $op {
            const NAME: &'static str = stringify!($op);
        }
        unary_ops!(@admits $admits $op $result);
    )*};
    (@admits any $op:ident $result:ident) => { unary_ops!(@$result $op [Dtype]); };
    (@admits numeric $op:ident $result:ident) => { unary_ops!(@$result $op [NumericFor<$op>]); };
    (@admits ordered $op:ident $result:ident) => { unary_ops!(@$result $op [OrderedFor<$op>]); };
    (@admits real $op:ident $result:ident) => { unary_ops!(@$result $op [RealFor<$op>]); };
    (@admits bits $op:ident $result:ident) => { unary_ops!(@$result $op [BitsFor<$op>]); };
    (@admits float $op:ident $result:ident) => { unary_ops!(@$result $op [FloatFor<$op>]); };
    (@admits inexact $op:ident $result:ident) => { unary_ops!(@$result $op [InexactFor<$op>]); };
    (@same $op:ident [$($bound:tt)+]) => {
        impl<E: $($bound)+> UnaryOp<E> for $op {
            type Output = E;
            #[inline(always)]
            fn apply(x: E) -> E {
                E::from_compute(x.to_compute().unary::<$op>())
            }
        }
    };
    (@inexact $op:ident [$($bound:tt)+]) => {
        impl<E: $($bound)+> UnaryOp<E> for $op {
            type Output = E::Inexact;
            #[inline(always)]
            fn apply(x: E) -> E::Inexact {
                E::Inexact::from_compute(x.cast::<E::Inexact>().to_compute().unary::<$op>())
            }
        }
    };
    (@integer $op:ident [$($bound:tt)+]) => {
        impl<E: $($bound)+> UnaryOp<E> for $op {
            type Output = E::Over<i64>;
            #[inline(always)]
            fn apply(x: E) -> E::Over<i64> {
                Dtype::from_compute(x.cast::<E::Over<i64>>().to_compute().unary::<$op>())
            }
        }
    };
    (@boolean $op:ident [$($bound:tt)+]) => {
        impl<E: $($bound)+> UnaryOp<E> for $op {
            type Output = bool;
            #[inline(always)]
            fn apply(x: E) -> bool {
                x.to_compute().predicate::<$op>()
            }
        }
    };
    (@real_part $op:ident [$($bound:tt)+]) => {
        impl<E: $($bound)+> UnaryOp<E> for $op {
            type Output = E::RealDtype;
            #[inline(always)]
            fn apply(x: E) -> E::RealDtype {
                // The real part of what E computes in is what E's real dtype computes in.
                x.to_compute().to_real::<$op>().cast()
            }
        }
    };
    (@angle $op:ident [$($bound:tt)+]) => {
        impl<E: $($bound)+> UnaryOp<E> for $op {
            type Output = <E::Inexact as crate::dtype::Promotable>::RealDtype;
            #[inline(always)]
            fn apply(x: E) -> Self::Output {
                x.cast::<E::Inexact>().to_compute().to_real::<$op>().cast()
            }
        }
    };
}
unary_table!(unary_ops);

impl ToReal for abs {
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        if x < T::zero() { x.wrapping_neg() } else { x }
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x.abs()
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> T {
        z.re.hypot(z.im)
    }
}

impl Unary for neg {
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        x.wrapping_neg()
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        -x
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        -z
    }
}

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

impl Unary for square {
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        x.wrapping_mul(&x)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x * x
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        z * z
    }
}

impl Unary for exp {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x.exp()
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::exp(z)
    }
}

impl Unary for log {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x.ln()
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::log(z)
    }
}

impl Unary for sqrt {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x.sqrt()
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::sqrt(z)
    }
}

impl Unary for rsqrt {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        T::one() / x.sqrt()
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::reciprocal(complex::sqrt(z))
    }
}

impl Unary for reciprocal {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        T::one() / x
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::reciprocal(z)
    }
}

impl Unary for sin {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x.sin()
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::sin(z)
    }
}

impl Unary for cos {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x.cos()
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::cos(z)
    }
}

impl Unary for tan {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x.tan()
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::tan(z)
    }
}

impl Unary for tanh {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x.tanh()
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::tanh(z)
    }
}

impl Unary for sigmoid {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        T::one() / (T::one() + (-x).exp())
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::sigmoid(z)
    }
}

impl Unary for erf {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        MachineFloat::erf(x)
    }
}

impl Unary for relu {
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        x.max(T::zero())
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        // Not `max`, which would lose NaN.
        if x <= T::zero() { T::zero() } else { x }
    }
}

impl Unary for gelu {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x * T::lit(0.5) * (T::one() + MachineFloat::erf(x * T::FRAC_1_SQRT_2()))
    }
}

impl Unary for gelu_tanh {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        // sqrt(2 / pi) and the cubic coefficient of the approximation
        let beta = T::SQRT_2() * T::FRAC_2_SQRT_PI() * T::lit(0.5);
        let inner = beta * (x + T::lit(0.044715) * x * x * x);
        T::lit(0.5) * x * (T::one() + inner.tanh())
    }
}

impl Unary for silu {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x / (T::one() + (-x).exp())
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::quotient(z, Complex::new(T::one(), T::zero()) + complex::exp(-z))
    }
}

/// The rounding operations leave integers as they are.
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

impl Unary for conj {
    #[inline(always)]
    fn boolean(x: bool) -> bool {
        x
    }
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        x
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        z.conj()
    }
}

impl ToReal for angle {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        if x < T::zero() {
            T::PI()
        } else if x.is_nan() {
            x
        } else {
            T::zero()
        }
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> T {
        z.im.atan2(z.re)
    }
}

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

/// Questions about floats, whose answer for bools and integers is always the same.
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
}
