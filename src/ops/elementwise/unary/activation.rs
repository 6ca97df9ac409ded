//! Formulas of activation functions.

use super::super::complex;
use super::*;
use crate::dtype::math;
use crate::dtype::{MachineFloat, MachineInt, ToReal, Unary};
use num_complex::Complex;

impl Unary for sigmoid {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        T::one() / (T::one() + T::elementary::<math::Exp>(-x))
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::sigmoid(z)
    }
}

impl Unary for relu {
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        x.max(T::zero())
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        // Not `max`, which ignores NaN; zeros keep their sign, as in PyTorch's `clamp_min`.
        if x < T::zero() { T::zero() } else { x }
    }
}

impl Unary for gelu {
    const BY_LOOKUP: bool = true;
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
        T::lit(0.5) * x * (T::one() + T::elementary::<math::Tanh>(inner))
    }
}

impl Unary for silu {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x / (T::one() + T::elementary::<math::Exp>(-x))
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::quotient(z, Complex::new(T::one(), T::zero()) + complex::exp(-z))
    }
}

/// `clamp(x, low, high)`; NaN propagates.
#[inline(always)]
pub(super) fn between<T: PartialOrd>(x: T, low: T, high: T) -> T {
    if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    }
}

impl Unary for relu6 {
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        // 6 fits every integer
        between(x, T::zero(), T::from(6).unwrap_or(T::zero()))
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        between(x, T::zero(), T::lit(6.0))
    }
}

/// The scale of `selu`.
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

impl Unary for selu {
    const HAS_FAST_PATH: bool = true;
    const FAST_PATH_IS_BRIEF: bool = true;
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        let (alpha, scale) = (T::lit(1.673_263_242_354_377_2), T::lit(SELU_SCALE));
        if x <= T::zero() { T::elementary::<math::Expm1>(x) * (alpha * scale) } else { x * scale }
    }
    #[inline(always)]
    fn takes_fast_path<T: MachineFloat>(x: T) -> bool {
        x.is_nan() | (x > T::zero())
    }
    #[inline(always)]
    fn fast_path<T: MachineFloat>(x: T) -> T {
        x * T::lit(SELU_SCALE)
    }
}

super::elementary::real_functions! {
    logsigmoid: |x| (if x > T::zero() { T::zero() } else { x }) - T::elementary::<math::Log1p>(T::elementary::<math::Exp>(-x.abs()));
    hardsigmoid: |x| between(x + T::lit(3.0), T::zero(), T::lit(6.0)) / T::lit(6.0);
    hardswish: |x| x * between(x + T::lit(3.0), T::zero(), T::lit(6.0)) / T::lit(6.0);
    mish: |x| x * T::elementary::<math::Tanh>(T::elementary::<math::Log1p>(T::elementary::<math::Exp>(x)));
}

/// The divisor of `softsign`: `1 + abs(x)`. Integers wrap.
impl Unary for softsign {
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        <abs as ToReal>::integer(x).wrapping_add(&T::one())
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        T::one() + x.abs()
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        Complex::new(T::one() + <abs as ToReal>::complex(z), T::zero())
    }
}

/// The subtracted term is the hyperbolic tangent.
impl Unary for tanhshrink {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        T::elementary::<math::Tanh>(x)
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::tanh(z)
    }
}
