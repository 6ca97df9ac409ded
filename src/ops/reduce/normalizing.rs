//! The kernels of rows that normalise: `layer_norm` and `rms_norm`.
//!
//! Uses `rows` and blocked sums; used by `tensor`.

use super::rows::{Pass, RowSteps};
use super::steps::{is_nan, is_truth};
use super::{Accumulating, blocked_sum};
use crate::dtype::{Complex, Compute, Dtype, MachineFloat as _};
use crate::ops;
use crate::ops::kernel::Precompiled;
use crate::ops::kernel::RowKernel;
#[cfg(any(test, feature = "cuda"))]
use crate::ops::text::{reduce::Written, row::RowText};

/// `1 / sqrt(sum / count + eps)`
#[inline(always)]
fn inverse_root<C: Compute>(sum: C, count: C, eps: C) -> C {
    let mean = sum.binary::<ops::div>(count);
    mean.binary::<Accumulating>(eps).unary::<ops::rsqrt>()
}

/// `x * weight + bias`, of those that are there.
#[inline(always)]
fn affine<C: Compute>(x: C, shared: [Option<C>; 2]) -> C {
    let scaled = shared[0].map_or(x, |weight| x.binary::<ops::mul>(weight));
    shared[1].map_or(scaled, |bias| scaled.binary::<Accumulating>(bias))
}

/// What the passes over a row, times a power, measure, all of which are sums.
#[inline(always)]
fn measure<K: RowSteps, E: Dtype>(steps: K, row: &[E], eps: f64, value: impl Fn(E) -> E) -> [E::Compute; 2] {
    let (count, eps) = (E::Compute::number(row.len() as f64), E::Compute::number(eps));
    let none = E::Compute::default();
    let total = blocked_sum(row, |&x| steps.term(0, value(x).to_compute(), [none; 2]));
    let first = steps.measured(0, total, count, eps);
    if const { K::PASSES.len() == 1 } {
        return [first, none];
    }
    let total = blocked_sum(row, |&x| steps.term(1, value(x).to_compute(), [first, none]));
    [first, steps.measured(1, total, count, eps)]
}

/// [`measure`] of a row times a power of two that makes its largest part about 1, and that power, where `scale` says that squares were
/// beyond the numbers: their inverse root is 0, or NaN if their mean was, too.
#[inline(always)]
fn measure_large<K: RowSteps, E: Dtype>(
    steps: K,
    row: &[E],
    eps: f64,
    scale: E::Compute,
) -> Option<(f64, [E::Compute; 2])> {
    if is_truth(scale) && !is_nan(scale) { None } else { measure_scaled(steps, row, eps) }
}
#[cold]
#[inline(never)]
fn measure_scaled<K: RowSteps, E: Dtype>(steps: K, row: &[E], eps: f64) -> Option<(f64, [E::Compute; 2])> {
    let mut largest = 0.0_f64;
    for &x in row {
        let x: Complex<f64> = x.cast();
        if !(x.re.is_finite() && x.im.is_finite()) {
            return None;
        }
        largest = largest.max(x.re.abs()).max(x.im.abs());
    }
    if largest < 2.0 {
        return None;
    }
    let power = largest.binade().recip();
    Some((power, measure(steps, row, eps * power * power, |x| times(x, power))))
}

/// An element times a power of two.
#[inline(always)]
fn times<E: Dtype>(x: E, power: f64) -> E {
    E::from_compute(x.to_compute().binary::<ops::mul>(E::Compute::number(power)))
}

/// `(x - mean) / sqrt(variance + eps)`
#[derive(Clone, Copy)]
pub(crate) struct Standardizing {
    pub(crate) eps: f64,
}
impl RowSteps for Standardizing {
    /// The mean, and what deviations from it are multiplied by.
    const PASSES: &'static [Pass] = &[Pass::Sum, Pass::Sum];
    #[inline(always)]
    fn term<C: Compute>(self, pass: usize, x: C, [mean, _]: [C; 2]) -> C {
        if pass == 0 {
            return x;
        }
        let deviation = x.binary::<ops::sub>(mean);
        deviation.binary::<ops::mul>(deviation)
    }
    #[inline(always)]
    fn measured<C: Compute>(self, pass: usize, total: C, count: C, eps: C) -> C {
        if pass == 0 { total.binary::<ops::div>(count) } else { inverse_root(total, count, eps) }
    }
    #[inline(always)]
    fn element<C: Compute>(self, [mean, scale]: [C; 2], x: C, shared: [Option<C>; 2]) -> C {
        affine(x.binary::<ops::sub>(mean).binary::<ops::mul>(scale), shared)
    }
}
impl<E: Dtype> RowKernel<E, E> for Standardizing {
    const PRECOMPILED: Option<Precompiled> = Some(Precompiled::Standardizing);
    type Measure = [E::Compute; 2];
    #[inline(always)]
    fn measure(self, row: &[E]) -> Self::Measure {
        measure(self, row, self.eps, |x| x)
    }
    #[inline(always)]
    fn of_large(self, [_, scale]: Self::Measure, row: &[E]) -> Option<(f64, Self::Measure)> {
        measure_large(self, row, self.eps, scale)
    }
    #[inline(always)]
    fn times(element: E, power: f64) -> E {
        times(element, power)
    }
    #[inline(always)]
    fn element(self, measured: Self::Measure, x: E, shared: [Option<E>; 2]) -> E {
        let shared = shared.map(|row| row.map(E::to_compute));
        E::from_compute(RowSteps::element(self, measured, x.to_compute(), shared))
    }
    #[cfg(any(test, feature = "cuda"))]
    fn text(self) -> Written<RowText> {
        RowText::of::<E, _>("layer_norm", self)
    }
    #[cfg(any(test, feature = "cuda"))]
    fn given(self) -> Vec<f64> {
        vec![self.eps]
    }
}

/// `x / sqrt(mean of squares + eps)`
#[derive(Clone, Copy)]
pub(crate) struct RootMeanSquare {
    pub(crate) eps: f64,
}
impl RowSteps for RootMeanSquare {
    /// What elements are multiplied by.
    const PASSES: &'static [Pass] = &[Pass::Sum];
    #[inline(always)]
    fn term<C: Compute>(self, _: usize, x: C, _: [C; 2]) -> C {
        x.binary::<ops::mul>(x)
    }
    #[inline(always)]
    fn measured<C: Compute>(self, _: usize, total: C, count: C, eps: C) -> C {
        inverse_root(total, count, eps)
    }
    #[inline(always)]
    fn element<C: Compute>(self, [scale, _]: [C; 2], x: C, shared: [Option<C>; 2]) -> C {
        affine(x.binary::<ops::mul>(scale), shared)
    }
}
impl<E: Dtype> RowKernel<E, E> for RootMeanSquare {
    const PRECOMPILED: Option<Precompiled> = Some(Precompiled::RootMeanSquare);
    type Measure = [E::Compute; 2];
    #[inline(always)]
    fn measure(self, row: &[E]) -> Self::Measure {
        measure(self, row, self.eps, |x| x)
    }
    #[inline(always)]
    fn of_large(self, [scale, _]: Self::Measure, row: &[E]) -> Option<(f64, Self::Measure)> {
        measure_large(self, row, self.eps, scale)
    }
    #[inline(always)]
    fn times(element: E, power: f64) -> E {
        times(element, power)
    }
    #[inline(always)]
    fn element(self, measured: Self::Measure, x: E, shared: [Option<E>; 2]) -> E {
        let shared = shared.map(|row| row.map(E::to_compute));
        E::from_compute(RowSteps::element(self, measured, x.to_compute(), shared))
    }
    #[cfg(any(test, feature = "cuda"))]
    fn text(self) -> Written<RowText> {
        RowText::of::<E, _>("rms_norm", self)
    }
    #[cfg(any(test, feature = "cuda"))]
    fn given(self) -> Vec<f64> {
        vec![self.eps]
    }
}
