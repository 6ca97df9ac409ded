//! Formulas of activation functions.

use super::super::complex;
use super::*;
use crate::dtype::math;
use crate::dtype::{MachineFloat, MachineInt, ToReal, Unary};
use num_complex::Complex;

/// The rows of activations in the table of unary operations.
macro_rules! activation_rows {
    ($reader:tt { $($rows:tt)* } $($files:ident)*) => {
        $crate::ops::table::joined! { $reader { $($rows)*
            sigmoid { any inexact,
                "The logistic function `1 / (1 + exp(-x))`.", "torch.sigmoid`, `torch.special.expit`, `torch.nn.functional.sigmoid",
                "tensor![0.0, 100.0]" = "[0.5, 1.0]" }
            relu { real same,
                "Each element where it is positive, else 0. NaN stays NaN.", "torch.relu",
                "tensor![-1.0, 2.0]" = "[0.0, 2.0]" }
            gelu { float same,
                "The Gaussian error linear unit, `x * (1 + erf(x / sqrt(2))) / 2`.", "torch.nn.functional.gelu",
                "tensor![0.0, 10.0]" = "[0.0, 10.0]" }
            gelu_tanh { float same,
                "The Gaussian error linear unit by its tanh approximation.", "torch.nn.functional.gelu(approximate='tanh')",
                "tensor![0.0, 10.0]" = "[0.0, 10.0]" }
            silu { inexact same,
                "The sigmoid linear unit, `x * sigmoid(x)`.", "torch.nn.functional.silu",
                "tensor![0.0, 100.0]" = "[0.0, 100.0]" }
            softsign { numeric divided,
                "`x / (1 + abs(x))`.", "torch.nn.functional.softsign",
                "tensor![1.0, -3.0]" = "[0.5, -0.75]" }
            tanhshrink { numeric subtracted,
                "`x - tanh(x)`.", "torch.nn.functional.tanhshrink",
                "tensor![0.0, 100.0]" = "[0.0, 99.0]" }
            relu6 { real same,
                "[`relu`](crate::Tensor::relu), but at most 6. NaN stays NaN.", "torch.nn.functional.relu6",
                "tensor![-1, 3, 8]" = "[0, 3, 6]" }
            selu { float same,
                "The scaled exponential linear unit: `1.0507 * (x if x > 0 else 1.6733 * (exp(x) - 1))`.", "torch.selu`, `torch.nn.functional.selu",
                "tensor![0.0]" = "[0.0]" }
            logsigmoid { float same,
                "The logarithm of the logistic function.", "torch.nn.functional.logsigmoid",
                "tensor![100.0, -1000.0]" = "[-3.783506e-44, -1000.0]" }
            hardsigmoid { float same,
                "`clamp(x + 3, 0, 6) / 6`.", "torch.nn.functional.hardsigmoid",
                "tensor![-4.0, 0.0, 4.0]" = "[0.0, 0.5, 1.0]" }
            hardswish { float same,
                "`x * clamp(x + 3, 0, 6) / 6`.", "torch.nn.functional.hardswish",
                "tensor![-4.0, 3.0]" = "[-0.0, 3.0]" }
            mish { float same,
                "`x * tanh(log(1 + exp(x)))`.", "torch.nn.functional.mish",
                "tensor![0.0, 100.0]" = "[0.0, 100.0]" }
        } $($files)* }
    };
}
pub(crate) use activation_rows;

impl Unary for sigmoid {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        T::one() / (T::one() + T::elementary::<math::Exp>(-x))
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::sigmoid(z)
    }
    const DERIVATIVE_READS: [u32; 3] = [8; 3];
    #[inline(always)]
    fn derivative<T: MachineFloat>(_x: T, y: T) -> T {
        (T::one() - y) * y
    }
    #[inline(always)]
    fn complex_gradient<T: MachineFloat>(_z: Complex<T>, y: Complex<T>, g: Complex<T>) -> Complex<T> {
        g * ((Complex::new(T::one(), T::zero()) - y) * y).conj()
    }
}

/// The logistic function for derivatives: no exponential overflows, which would make the derivative of a derivative NaN.
#[inline(always)]
pub(crate) fn logistic<T: MachineFloat>(x: T, exp: impl Fn(T) -> T) -> T {
    let is_negative = x < T::zero();
    let small = exp(if is_negative { x } else { -x });
    (if is_negative { small } else { T::one() }) / (T::one() + small)
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
    /// 0 at 0.
    #[inline(always)]
    fn derivative<T: MachineFloat>(x: T, _y: T) -> T {
        if x <= T::zero() { T::zero() } else { T::one() }
    }
}

impl Unary for gelu {
    const BY_LOOKUP: bool = true;
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x * T::lit(0.5) * (T::one() + MachineFloat::erf(x * T::FRAC_1_SQRT_2()))
    }
    const DERIVATIVE_IS_LONG: bool = true;
    #[inline(always)]
    fn derivative<T: MachineFloat>(x: T, _y: T) -> T {
        <ndtr as Unary>::real(x) + x * <ndtr as Unary>::derivative(x, x)
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
    const DERIVATIVE_IS_LONG: bool = true;
    #[inline(always)]
    fn derivative<T: MachineFloat>(x: T, _y: T) -> T {
        let beta = T::SQRT_2() * T::FRAC_2_SQRT_PI() * T::lit(0.5);
        let tanh = T::elementary::<math::Tanh>(beta * (x + T::lit(0.044715) * x * x * x));
        let inner = beta * (T::one() + T::lit(3.0 * 0.044715) * x * x);
        T::lit(0.5) * (T::one() + tanh + x * (T::one() - tanh * tanh) * inner)
    }
}

impl Unary for silu {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x / (T::one() + T::elementary::<math::Exp>(-x))
    }
    const DERIVATIVE_IS_LONG: bool = true;
    #[inline(always)]
    fn derivative<T: MachineFloat>(x: T, _y: T) -> T {
        let sigmoid = logistic(x, T::elementary::<math::Exp>);
        sigmoid * (T::one() + x * (T::one() - sigmoid))
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

/// 1 between two numbers, else 0; so for NaN.
#[inline(always)]
fn within<T: MachineFloat>(x: T, low: T, high: T) -> T {
    if (x > low) & (x < high) { T::one() } else { T::zero() }
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
    #[inline(always)]
    fn derivative<T: MachineFloat>(x: T, _y: T) -> T {
        within(x, T::zero(), T::lit(6.0))
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
    fn derivative<T: MachineFloat>(x: T, _y: T) -> T {
        let (alpha, scale) = (T::lit(1.673_263_242_354_377_2), T::lit(SELU_SCALE));
        if x > T::zero() { scale } else { T::elementary::<math::Exp>(x) * (alpha * scale) }
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
    logsigmoid: |x| (if x > T::zero() { T::zero() } else { x }) - T::elementary::<math::Log1p>(T::elementary::<math::Exp>(if x > T::zero() { -x } else { x }));
    hardsigmoid: |x| between(x + T::lit(3.0), T::zero(), T::lit(6.0)) / T::lit(6.0), slope |x| within(x, T::lit(-3.0), T::lit(3.0)) / T::lit(6.0);
    hardswish: |x| x * between(x + T::lit(3.0), T::zero(), T::lit(6.0)) / T::lit(6.0), slope |x| {
        let inside = x / T::lit(3.0) + T::lit(0.5);
        let above = if x < T::lit(3.0) { inside } else { T::one() };
        if x <= T::lit(-3.0) { T::zero() } else { above }
    };
    mish: |x| x * T::elementary::<math::Tanh>(T::elementary::<math::Log1p>(T::elementary::<math::Exp>(x))), slope |x| {
        let (above, below) = if x > T::zero() { (x, -x) } else { (T::zero(), x) };
        let tanh = T::elementary::<math::Tanh>(above + T::elementary::<math::Log1p>(T::elementary::<math::Exp>(below)));
        tanh + x * logistic(x, T::elementary::<math::Exp>) * (T::one() - tanh * tanh)
    };
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
