//! Pointwise operations outside the tables: of three operands (`lerp`), with a slope per channel (`prelu`), with two results (`frexp`), and
//! constructors of complex numbers (`complex`, `polar`).

use super::kernel::{Constants, Map1, Map2, Map3, Slope};
use super::reduce::op;
use crate::dtype::f16;
use crate::dtype::{
    Binary, Castable as _, Complex, Compute as _, Dtype, Float, MachineFloat, MachineInt, Parameters, Tuned,
};
use crate::ops::slope::{Derived, OfBinary, OfPair, OfThree, OfUnary};
use crate::{
    dtype::{DType, Element},
    ops::record::kernel::{Kernel, Value},
};

op!(lerp prelu frexp complex polar);

/// The dtypes of parts that `Op` makes complex numbers of.
#[diagnostic::on_unimplemented(
    message = "`{Op}` is not defined for dtype `{Self}`",
    label = "complex numbers have parts of `f16`, `f32` or `f64`",
    note = "cast first, for example `.to::<f32>()`"
)]
pub trait PartFor<Op>: Float {}
impl<Op> PartFor<Op> for f16 {}
impl<Op> PartFor<Op> for f32 {}
impl<Op> PartFor<Op> for f64 {}

/// `lerp(x, end, weight)`, computed from the nearer end. Source: `aten/src/ATen/native/Lerp.h`.
pub(crate) struct LerpFormula;
impl Tuned for LerpFormula {
    const DERIVATIVE_READS: [u32; 3] = [4, 4, 7];
    #[inline(always)]
    fn derivative<T: MachineFloat>(by: usize, x: T, [end, weight, _]: Parameters<T>) -> T {
        match by {
            0 => T::one() - weight,
            1 => weight,
            _ => end - x,
        }
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T, [end, weight, _]: Parameters<T>) -> T {
        let distance = end - x;
        if weight.abs() < T::lit(0.5) { x + weight * distance } else { end - distance * (T::one() - weight) }
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(x: Complex<T>, [end, weight, _]: Parameters<Complex<T>>) -> Complex<T> {
        let distance = end - x;
        if weight.norm_sqr() < T::lit(0.25) {
            x + weight * distance
        } else {
            end - distance * (Complex::new(T::one(), T::zero()) - weight)
        }
    }
}

/// `lerp(start, end, weight)`
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Lerping;
impl<E: Dtype> Map3<E, E, E, E> for Lerping {
    const SLOPE: Slope = Derived::<OfThree<LerpFormula>, E>::SLOPE;
    #[inline(always)]
    fn call(self, start: E, end: E, weight: E) -> E {
        LerpingBy::<E::Compute>(weight.to_compute()).call(start, end)
    }
    fn text(&self, kernel: &mut Kernel, start: Value, end: Value, weight: Value) -> Value {
        let weight = kernel.widen(weight);
        lerped(kernel, E::DTYPE, start, end, weight)
    }
}
/// `lerp(start, end, weight)` with one weight for all elements.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct LerpingBy<C>(pub C);
impl<E: Dtype> Map2<E, E, E> for LerpingBy<E::Compute> {
    const SLOPE: Slope = Derived::<OfPair<LerpFormula>, E>::SLOPE;
    fn constants(self) -> Constants {
        [self.0.cast(), Default::default(), Default::default()]
    }
    #[inline(always)]
    fn call(self, start: E, end: E) -> E {
        let parameters = [end.to_compute(), self.0, Default::default()];
        E::from_compute(start.to_compute().tuned::<LerpFormula>(parameters))
    }
    fn text(&self, kernel: &mut Kernel, start: Value, end: Value) -> Value {
        let weight = kernel.parameter(self.0);
        lerped(kernel, E::DTYPE, start, end, weight)
    }
}
/// `lerp` as GPU text, with a weight in the compute type.
fn lerped(kernel: &mut Kernel, dtype: DType, start: Value, end: Value, weight: Value) -> Value {
    let (start, end) = (kernel.widen(start), kernel.widen(end));
    // There is no third parameter.
    let value = kernel.row("lerp", dtype, &[start, end, weight, weight]);
    kernel.cast(value, dtype)
}

/// `prelu(x, slope)`
pub(crate) struct PreluFormula;
impl Binary for PreluFormula {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T, slope: T) -> T {
        if x > T::zero() { x } else { slope * x }
    }
}

/// A mantissa between 1/2 and 1 and an exponent, without branches. Zeros, infinities and NaN are their own mantissa.
#[inline(always)]
fn halves_of(x: f64) -> (f64, i32) {
    const DIGITS: i32 = f64::MANTISSA_DIGITS as i32 - 1;
    const EXPONENT: u64 = 0x7ff << DIGITS;
    const BIAS: i32 = 1022;
    // A power of two that makes every denormal number normal.
    const UP: f64 = (1_u64 << (DIGITS + 1)) as f64;
    let is_subnormal = x.abs() < f64::MIN_POSITIVE;
    let bits = (if is_subnormal { x * UP } else { x }).to_bits();
    let exponent = ((bits & EXPONENT) >> DIGITS) as i32 - BIAS - if is_subnormal { DIGITS + 1 } else { 0 };
    let mantissa = f64::from_bits(bits & !EXPONENT | (BIAS as u64) << DIGITS);
    let has_one = (x != 0.0) & (x.abs() < f64::INFINITY);
    (if has_one { mantissa } else { x }, if has_one { exponent } else { 0 })
}

/// The mantissa as a formula, for its derivative: the number over twice the power of two below it.
struct MantissaFormula;
impl crate::dtype::Unary for MantissaFormula {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        if x == T::zero() || !x.is_finite() { x } else { x / (x.binade() + x.binade()) }
    }
}

/// The mantissa of `frexp`, between 1/2 and 1.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Mantissa;
impl<E: Dtype> Map1<E, E> for Mantissa {
    const SLOPE: Slope = Derived::<OfUnary<MantissaFormula>, E>::SLOPE;
    #[inline(always)]
    fn call(self, x: E) -> E {
        halves_of(x.cast::<f64>()).0.cast()
    }
    fn text(&self, kernel: &mut Kernel, x: Value) -> Value {
        let x = kernel.cast(x, DType::F64);
        let mantissa = kernel.prelude("mantissa", &[x], DType::F64);
        kernel.cast(mantissa, E::DTYPE)
    }
}
/// The exponent of `frexp`.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Exponent;
impl<E: Dtype> Map1<E, i32> for Exponent {
    #[inline(always)]
    fn call(self, x: E) -> i32 {
        halves_of(x.cast::<f64>()).1
    }
    fn text(&self, kernel: &mut Kernel, x: Value) -> Value {
        let x = kernel.cast(x, DType::F64);
        kernel.prelude("exponent_of", &[x], DType::I32)
    }
}

/// A complex number from its parts.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct FromParts;
impl<E: Float> Map2<E, E, E::Complex> for FromParts {
    const SLOPE: Slope = Slope::Parts;
    #[inline(always)]
    fn call(self, re: E, im: E) -> E::Complex {
        Complex::new(re.cast::<f64>(), im.cast::<f64>()).cast()
    }
    fn text(&self, kernel: &mut Kernel, re: Value, im: Value) -> Value {
        paired(kernel, <E::Complex as Element>::DTYPE, re, im)
    }
}
/// A complex number as GPU text.
fn paired(kernel: &mut Kernel, dtype: DType, re: Value, im: Value) -> Value {
    let (re, im) = (kernel.cast(re, DType::F64), kernel.cast(im, DType::F64));
    let both = kernel.prelude("paired", &[re, im], DType::C128);
    kernel.cast(both, dtype)
}

/// A complex number from magnitude and angle.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct FromPolar;
impl<E: Float> Map2<E, E, E::Complex> for FromPolar {
    const SLOPE: Slope = Slope::Polar;
    #[inline(always)]
    fn call(self, magnitude: E, angle: E) -> E::Complex {
        let (magnitude, angle) = (magnitude.to_compute(), angle.to_compute());
        let (re, im) = (angle.unary::<super::cos>(), angle.unary::<super::sin>());
        let (re, im) = (magnitude.binary::<super::mul>(re), magnitude.binary::<super::mul>(im));
        Complex::new(re.cast::<f64>(), im.cast::<f64>()).cast()
    }
    fn text(&self, kernel: &mut Kernel, magnitude: Value, angle: Value) -> Value {
        let (magnitude, angle) = (kernel.widen(magnitude), kernel.widen(angle));
        let parts = ["cos", "sin"].map(|name| {
            let part = kernel.row(name, E::DTYPE, &[angle]);
            kernel.row("mul", E::DTYPE, &[magnitude, part])
        });
        paired(kernel, <E::Complex as Element>::DTYPE, parts[0], parts[1])
    }
}

/// `a - b`; for bools whether they differ.
struct Difference;
impl Binary for Difference {
    #[inline(always)]
    fn boolean(a: bool, b: bool) -> bool {
        a != b
    }
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        a.wrapping_sub(&b)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        a - b
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        super::sub::complex(a, b)
    }
}
#[derive(Clone, Copy)]
pub(crate) struct Differing;
impl<E: Dtype> Map2<E, E, E> for Differing {
    const SLOPE: Slope = Derived::<OfBinary<Difference>, E>::SLOPE;
    #[inline(always)]
    fn call(self, a: E, b: E) -> E {
        E::from_compute(a.to_compute().binary::<Difference>(b.to_compute()))
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        kernel.folded::<Difference>(a, b)
    }
}
