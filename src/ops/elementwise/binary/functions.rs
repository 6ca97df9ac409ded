//! Formulas of other binary functions.

use super::super::complex;
use super::super::unary::logistic;
use super::*;
use crate::dtype::math;
use crate::dtype::{Castable as _, MachineFloat, MachineInt, Special};
use crate::ops::slope::Simple;
use crate::{
    dtype::{DType, Element},
    ops::record::kernel::{Kernel, Value},
};
use num_complex::Complex;

/// The rows of functions of two numbers in the table of binary operations.
macro_rules! functions_rows {
    ($reader:tt { $($rows:tt)* } $($files:ident)*) => {
        $crate::ops::table::joined! { $reader { $($rows)*
            rsub { numeric same any,
                "The difference the other way round, `other - self`. Integers wrap.", "torch.rsub",
                "tensor![1, 2]" "5" = "[4_i64, 3]", additive }
            fmax { ordered same tensors,
                "The larger of two elements; of a number and NaN the number.", "torch.fmax",
                "tensor![1.0, f32::NAN]" "tensor![3.0, 2.0]" = "[3.0, 2.0]" }
            fmin { ordered same tensors,
                "The smaller of two elements; of a number and NaN the number.", "torch.fmin",
                "tensor![1.0, f32::NAN]" "tensor![3.0, 2.0]" = "[1.0, 2.0]" }
            gcd { integer_pair same tensors,
                "The greatest common divisor, which is not negative.", "torch.gcd",
                "tensor![12, 0]" "tensor![-18, 5]" = "[6, 5]" }
            lcm { integer_pair same tensors,
                "The least common multiple, which is not negative; it wraps.", "torch.lcm",
                "tensor![4, 0]" "tensor![6, 5]" = "[12, 0]" }
            atan2 { ordered inexact tensors,
                "The angle of the point `(other, self)` in radians.", "torch.atan2`, `torch.arctan2",
                "tensor![1.0, 0.0]" "tensor![0.0, 1.0]" = "[std::f32::consts::FRAC_PI_2, 0.0]" }
            hypot { float_pair same tensors,
                "The length of the hypotenuse, `sqrt(a * a + b * b)` without overflow.", "torch.hypot",
                "tensor![3.0]" "tensor![4.0]" = "[5.0]" }
            copysign { ordered brief any,
                "The magnitude of `self` with the sign of the other operand.", "torch.copysign",
                "tensor![1.0, 2.0]" "-0.0" = "[-1.0_f32, -2.0]" }
            nextafter { float_pair neighbour tensors,
                "The next number of the dtype towards the other operand.", "torch.nextafter",
                "tensor![1.0]" "tensor![2.0]" = "[1.0 + f32::EPSILON]" }
            heaviside { alike exact tensors,
                "0 below zero, 1 above, the other operand at zero; 0 for NaN.", "torch.heaviside",
                "tensor![-2.0, 0.0, 3.0]" "tensor![0.5]" = "[0.0, 0.5, 1.0]" }
            ldexp { scaling scaled tensors,
                "`self` times 2 to the power of the other operand.", "torch.ldexp",
                "tensor![1.5, 3.0]" "tensor![2, -1]" = "[6.0, 1.5]", linear_in_first }
            logaddexp { inexact_pair same tensors,
                "`log(exp(a) + exp(b))` without overflow.", "torch.logaddexp",
                "tensor![1000.0]" "tensor![-1000.0]" = "[1000.0]" }
            logaddexp2 { float_pair same tensors,
                "`log2(2^a + 2^b)` without overflow.", "torch.logaddexp2",
                "tensor![1000.0]" "tensor![1000.0]" = "[1001.0]" }
            xlogy { ordered inexact scalars,
                "`self * log(other)`; 0 where `self` is 0, unless the other is NaN.", "torch.xlogy`, `torch.special.xlogy",
                "tensor![0.0, 2.0]" "tensor![0.0, 1.0]" = "[0.0, 0.0]" }
            xlog1py { ordered inexact scalars,
                "`self * log(1 + other)`; 0 where `self` is 0, unless the other is NaN.", "torch.special.xlog1py",
                "tensor![0.0, 2.0]" "tensor![-1.0, 0.0]" = "[0.0, 0.0]" }
            zeta { ordered inexact scalars,
                "The Hurwitz zeta function: the sum of `(k + other)^-self` over all `k` from 0.", "torch.special.zeta",
                "tensor![1.0]" "1" = "[f32::INFINITY]" }
            igamma { float_pair same tensors,
                "The regularised lower incomplete gamma function: the share of the integral of `t^(self-1) exp(-t)` below the other operand. NaN if either is negative.", "torch.igamma`, `torch.special.gammainc",
                "tensor![1.0, 1.0]" "tensor![0.0, f32::INFINITY]" = "[0.0, 1.0]" }
            igammac { float_pair same tensors,
                "The regularised upper incomplete gamma function: the share of the integral of `t^(self-1) exp(-t)` above the other operand. NaN if either is negative.", "torch.igammac`, `torch.special.gammaincc",
                "tensor![1.0, 1.0]" "tensor![0.0, f32::INFINITY]" = "[1.0, 0.0]" }
        } $($files)* }
    };
}
pub(crate) use functions_rows;

/// Functions of real floating-point numbers only.
macro_rules! real_functions {
    ($($op:ident: |$a:ident, $b:ident| $real:expr $(, slope |$by:ident, $x:ident, $y:ident| $slope:expr)?;)*) => {$(
        impl Binary for $op {
            #[inline(always)]
            fn real<T: MachineFloat>($a: T, $b: T) -> T {
                $real
            }
            $(
                #[inline(always)]
                fn derivative<T: MachineFloat>($by: usize, $x: T, $y: T) -> T {
                    $slope
                }
            )?
        }
    )*};
}
real_functions! {
    atan2: |a, b| T::elementary_of_two::<math::Atan2>(a, b), slope |by, a, b| {
        let (square, across) = (a * a + b * b, if by == 0 { b } else { -a });
        if square == T::zero() { T::zero() } else { across / square }
    };
    hypot: |a, b| T::elementary_of_two::<math::Hypot>(a, b);
    xlogy: |a, b| times_log(a, b, T::elementary::<math::Log>), slope |by, a, b| {
        let of_zero = (a == T::zero()) & (b <= T::zero());
        if by != 0 { a / b } else if of_zero { T::zero() } else { T::elementary::<math::Log>(b) }
    };
    xlog1py: |a, b| times_log(a, b, T::elementary::<math::Log1p>), slope |by, a, b| {
        let of_zero = (a == T::zero()) & (b <= -T::one());
        if by != 0 { a / (b + T::one()) } else if of_zero { T::zero() } else { T::elementary::<math::Log1p>(b) }
    };
    igamma: |a, x| Special::igamma(a, x);
    igammac: |a, x| Special::igammac(a, x);
    logaddexp2: |a, b| {
        if a.is_infinite() && a == b {
            a
        } else {
            let less = T::elementary::<math::Exp2>(-(a - b).abs());
            larger(a, b) + T::elementary::<math::Log1p>(less) * T::lit(core::f64::consts::LOG2_E)
        }
    }, slope |by, a, b| {
        logistic(if by == 0 { a - b } else { b - a }, T::elementary::<math::Exp2>)
    };
}

impl Binary for copysign {
    const IS_EXACT: bool = true;
    const OF_BITS: Option<fn(u16, u16) -> u16> = Some(|a, b| a & 0x7fff | b & 0x8000);
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        a.copysign(b)
    }
    /// 0 at 0, and by the sign.
    #[inline(always)]
    fn derivative<T: MachineFloat>(by: usize, a: T, b: T) -> T {
        if (by != 0) | (a == T::zero()) { T::zero() } else { a.copysign(b) / a }
    }
}

/// A divergent series is not summed.
impl Binary for zeta {
    const HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        Special::zeta(a, b)
    }
    #[inline(always)]
    fn takes_fast_path<T: MachineFloat>(a: T, _: T) -> bool {
        a <= T::one()
    }
    #[inline(always)]
    fn fast_path<T: MachineFloat>(a: T, _: T) -> T {
        if a == T::one() { T::infinity() } else { T::nan() }
    }
}

/// `a * log(b)`; 0 where `a` is 0, unless `b` is NaN.
#[inline(always)]
fn times_log<T: MachineFloat>(a: T, b: T, log: impl Fn(T) -> T) -> T {
    if b.is_nan() {
        b
    } else if a == T::zero() {
        T::zero()
    } else {
        a * log(b)
    }
}

/// The larger of two, NaN if either is.
#[inline(always)]
fn larger<T: MachineFloat>(a: T, b: T) -> T {
    <maximum as Binary>::real(a, b)
}

impl Binary for logaddexp {
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        let less = T::elementary::<math::Exp>(-(a - b).abs());
        if a.is_infinite() && a == b { a } else { larger(a, b) + T::elementary::<math::Log1p>(less) }
    }
    #[inline(always)]
    fn derivative<T: MachineFloat>(by: usize, a: T, b: T) -> T {
        logistic(if by == 0 { a - b } else { b - a }, T::elementary::<math::Exp>)
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        complex::logaddexp(a, b)
    }
    #[inline(always)]
    fn complex_gradient<T: MachineFloat>(by: usize, a: Complex<T>, b: Complex<T>, g: Complex<T>) -> Complex<T> {
        let [own, other] = if by == 0 { [a, b] } else { [b, a] };
        // The exponential that does not overflow.
        let is_larger = own.re >= other.re;
        let less = complex::exp(if is_larger { other - own } else { own - other });
        let numerator = if is_larger { Complex::new(T::one(), T::zero()) } else { less };
        g * complex::quotient(numerator, less + T::one()).conj()
    }
}

/// `ldexp`. Floats with an integer exponent are scaled exactly, with the exponent as C's `int`; for other exponents, 2 to the power of the
/// exponent is computed in its own dtype first. Source: `aten/src/ATen/native/BinaryOps.cpp`, `ldexp`.
#[inline(always)]
pub(super) fn scaled<P: Dtype, A: Dtype, B: Dtype>(a: A, exponent: B) -> P::Inexact {
    let a = a.cast::<P::Inexact>().to_compute();
    if const { A::DTYPE.is_floating_point() && matches!(B::DTYPE.category(), crate::Category::Integral) } {
        // The low 32 bits; outside these bounds every result is 0 or infinite.
        let exponent = (exponent.cast::<i64>() as i32).clamp(-5000, 5000);
        return P::Inexact::from_compute(a.binary::<ldexp>(exponent.cast()));
    }
    // PyTorch's base is a zero-dim tensor of the operand's dtype, made floating for integers.
    let power = if const { matches!(A::DTYPE.category(), crate::Category::Boolean | crate::Category::Integral) } {
        power_of_two::<B::Inexact, B>(exponent).cast::<P::Inexact>()
    } else {
        power_of_two::<B::Over<A>, B>(exponent).cast::<P::Inexact>()
    };
    P::Inexact::from_compute(a.binary::<mul>(power.to_compute()))
}

/// 2 to the power of `exponent`, computed in the dtype `W`.
#[inline(always)]
fn power_of_two<W: Dtype, B: Dtype>(exponent: B) -> W {
    W::from_compute(2.0_f64.cast::<W>().to_compute().binary::<pow>(exponent.cast::<W>().to_compute()))
}

/// `scaled` as GPU text.
pub(super) fn scaled_text<P: Dtype, A: Dtype, B: Dtype>(kernel: &mut Kernel, a: Value, exponent: Value) -> Value {
    let result = <P::Inexact as Element>::DTYPE;
    let a = kernel.operand(a, result);
    if A::DTYPE.is_floating_point() && B::DTYPE.category() == crate::Category::Integral {
        let exponent = kernel.cast(exponent, DType::I64);
        let exponent = kernel.cast(exponent, DType::I32);
        let exponent = kernel.prelude("clamped_exponent", &[exponent], DType::I32);
        let exponent = kernel.cast(exponent, a.dtype());
        let scaled = kernel.row("ldexp", result, &[a, exponent]);
        return kernel.cast(scaled, result);
    }
    let of = if A::DTYPE.category() <= crate::Category::Integral {
        <B::Inexact as Element>::DTYPE
    } else {
        <B::Over<A> as Element>::DTYPE
    };
    let two = kernel.constant(2.0, of);
    let (two, exponent) = (kernel.widen(two), kernel.operand(exponent, of));
    let power = kernel.row("pow", of, &[two, exponent]);
    let power = kernel.cast(power, of);
    let power = kernel.operand(power, result);
    let product = kernel.row("mul", result, &[a, power]);
    kernel.cast(product, result)
}

/// With an integer exponent.
impl Binary for ldexp {
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        a.scaled_by(b)
    }
}

impl Binary for rsub {
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        <sub as Binary>::integer(b, a)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        <sub as Binary>::real(b, a)
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        <sub as Binary>::complex(b, a)
    }
}

/// Aliases of other operations.
macro_rules! aliases {
    ($($op:ident = $other:ident;)*) => {$(
        impl Binary for $op {
            const RIGHT_SCALAR_IS_EXACT: bool = <$other as Binary>::RIGHT_SCALAR_IS_EXACT;
            #[inline(always)]
            fn real<T: MachineFloat>(a: T, b: T) -> T {
                <$other as Binary>::real(a, b)
            }
            #[inline(always)]
            fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
                <$other as Binary>::complex(a, b)
            }
            #[inline(always)]
            fn real_by_scalar<T: MachineFloat>(a: T, b: T) -> T {
                <$other as Binary>::real_by_scalar(a, b)
            }
            #[inline(always)]
            fn complex_by_scalar<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
                <$other as Binary>::complex_by_scalar(a, b)
            }
            const SIMPLE: Simple = <$other as Binary>::SIMPLE;
            const DERIVATIVE_READS: [u32; 3] = <$other as Binary>::DERIVATIVE_READS;
            #[inline(always)]
            fn derivative<T: MachineFloat>(by: usize, a: T, b: T) -> T {
                <$other as Binary>::derivative(by, a, b)
            }
            const SCALAR_HAS_FAST_PATH: bool = <$other as Binary>::SCALAR_HAS_FAST_PATH;
            #[inline(always)]
            fn fast_path_by_scalar<T: MachineFloat>(a: T, b: T) -> T {
                <$other as Binary>::fast_path_by_scalar(a, b)
            }
            #[inline(always)]
            fn takes_fast_path_by_scalar<T: MachineFloat>(a: T, b: T) -> bool {
                <$other as Binary>::takes_fast_path_by_scalar(a, b)
            }
            #[inline(always)]
            fn complex_gradient<T: MachineFloat>(by: usize, a: Complex<T>, b: Complex<T>, g: Complex<T>) -> Complex<T> {
                <$other as Binary>::complex_gradient(by, a, b, g)
            }
        }
    )*};
}
aliases! {
    true_divide = div;
    float_power = pow;
}

/// The larger or smaller of two numbers; NaN only if both are.
macro_rules! extremes_of_numbers {
    ($($op:ident = $other:ident;)*) => {$(
        impl Binary for $op {
            /// That of the chosen one; equals are the first.
            #[inline(always)]
            fn derivative<T: MachineFloat>(by: usize, a: T, b: T) -> T {
                let is_first = b.is_nan() | (<$other as Binary>::real(a, b) == a);
                if is_first == (by == 0) { T::one() } else { T::zero() }
            }
            #[inline(always)]
            fn boolean(a: bool, b: bool) -> bool {
                <$other as Binary>::boolean(a, b)
            }
            #[inline(always)]
            fn integer<T: MachineInt>(a: T, b: T) -> T {
                <$other as Binary>::integer(a, b)
            }
            #[inline(always)]
            fn real<T: MachineFloat>(a: T, b: T) -> T {
                if b.is_nan() {
                    a
                } else if a.is_nan() {
                    b
                } else {
                    <$other as Binary>::real(a, b)
                }
            }
        }
    )*};
}
extremes_of_numbers! {
    fmax = maximum;
    fmin = minimum;
}

/// The magnitude; for the smallest integer it wraps.
#[inline(always)]
fn magnitude<T: MachineInt>(x: T) -> T {
    if x < T::zero() { x.wrapping_neg() } else { x }
}

fn greatest_divisor<T: MachineInt>(a: T, b: T) -> T {
    magnitude(a).greatest_divisor(magnitude(b))
}

impl Binary for gcd {
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        greatest_divisor(a, b)
    }
}

impl Binary for lcm {
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        let divisor = greatest_divisor(a, b);
        if divisor == T::zero() {
            return divisor;
        }
        let (quotient, _) = a.divided(divisor);
        if T::BITS < 32 {
            // PyTorch's product is wider than the dtype here, so its sign is lost before it wraps.
            magnitude(quotient).wrapping_mul(&magnitude(b))
        } else {
            magnitude(quotient.wrapping_mul(&b))
        }
    }
}

impl Binary for heaviside {
    #[inline(always)]
    fn boolean(a: bool, b: bool) -> bool {
        a | b
    }
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        if a == T::zero() {
            b
        } else if a > T::zero() {
            T::one()
        } else {
            T::zero()
        }
    }
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        if a == T::zero() {
            b
        } else if a > T::zero() {
            T::one()
        } else {
            T::zero()
        }
    }
}

/// The next `bf16` towards another, by their bits: those of numbers of one sign ascend with their sizes.
#[inline(always)]
fn next_bits(a: u16, b: u16) -> u16 {
    const SIGN: u16 = 0x8000;
    const INFINITY: u16 = 0x7f80;
    const QUIET: u16 = 0x40;
    let (size, other) = (a & !SIGN, b & !SIGN);
    let next = if other > size && (a ^ b) & SIGN == 0 { a.wrapping_add(1) } else { a.wrapping_sub(1) };
    let next = if size == 0 { b & SIGN | 1 } else { next };
    let next = if a == b || size | other == 0 { b } else { next };
    let next = if other > INFINITY { b | QUIET } else { next };
    if size > INFINITY { a | QUIET } else { next }
}

impl Binary for nextafter {
    const OF_BITS: Option<fn(u16, u16) -> u16> = Some(next_bits);
    /// As in PyTorch that of the first operand.
    #[inline(always)]
    fn derivative<T: MachineFloat>(by: usize, _a: T, _b: T) -> T {
        if by == 0 { T::one() } else { T::zero() }
    }
}

impl<P: Dtype> Binary for Among<nextafter, P> {
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        let Some(info) = P::DTYPE.finfo() else { return a };
        if T::lit(info.eps) == T::epsilon() {
            return a.next_towards(b);
        }
        // The dtype is narrower than its compute type.
        if a.is_nan() || b.is_nan() || a == b {
            return if a.is_nan() { a } else { b };
        }
        let smallest = T::lit(info.smallest_normal * info.eps);
        if a == T::zero() {
            return smallest.copysign(b);
        }
        if a.is_infinite() {
            return T::lit(info.max).copysign(a);
        }
        let binade = a.binade();
        let spacing = (T::lit(info.eps) * binade).max(smallest);
        let outwards = (b > a) == (a > T::zero());
        let step = if !outwards && a.abs() == binade { (spacing * T::lit(0.5)).max(smallest) } else { spacing };
        // A value beyond the largest number becomes infinite when rounded to the dtype; a zero keeps the sign.
        let next = if b > a { a + step } else { a - step };
        next.copysign(a)
    }
}
