//! The normalisation kernels over rows: `layer_norm` and `rms_norm`.

use super::rows::{LargestPart, Pass, PowerOfRow, RowSteps, TimesPower, beside_powers};
use super::steps::{is_nan, is_truth};
use super::{Accumulating, blocked_sum};
use crate::dtype::{Compute, Dtype};
use crate::ops;
use crate::ops::kernel::Precompiled;
use crate::ops::kernel::{RowKernel, RowSlope};
use crate::ops::record::{reduce::Record, row::RecordedRow};

/// `1 / sqrt(sum / count + eps)`
#[inline(always)]
fn inverse_root<C: Compute>(sum: C, count: C, eps: C) -> C {
    let mean = sum.binary::<ops::div>(count);
    mean.binary::<Accumulating>(eps).unary::<ops::rsqrt>()
}

/// Whether the squares overflowed: the inverse root is 0, or NaN if the mean overflowed, too.
#[inline(always)]
fn has_no_scale<C: Compute>(inverse_root: C) -> bool {
    !is_truth(inverse_root) || is_nan(inverse_root)
}

/// `x * weight + bias`, where given.
#[inline(always)]
fn affine<C: Compute>(x: C, shared: [Option<C>; 2]) -> C {
    let scaled = shared[0].map_or(x, |weight| x.binary::<ops::mul>(weight));
    shared[1].map_or(scaled, |bias| scaled.binary::<Accumulating>(bias))
}

/// Runs the passes over a row, all of which are sums.
#[inline(always)]
fn measure<K: RowSteps, E: Dtype>(
    steps: K,
    row: &[E],
    eps: E::Compute,
    value: impl Fn(E) -> E::Compute,
) -> [E::Compute; 2] {
    let count = E::Compute::number(row.len() as f64);
    let none = E::Compute::default();
    let total = blocked_sum(row, |&x| steps.term(0, value(x), [none; 2]));
    let first = steps.measured(0, total, count, eps);
    if const { K::PASSES.len() == 1 } {
        return [first, none];
    }
    let total = blocked_sum(row, |&x| steps.term(1, value(x), [first, none]));
    [first, steps.measured(1, total, count, eps)]
}

/// If terms overflowed: the power of two that scales the row, and the measure of the scaled row.
#[inline(always)]
fn measure_large<K: RowSteps, E: Dtype>(
    steps: K,
    row: &[E],
    eps: f64,
    measured: [E::Compute; 2],
) -> Option<(E, [E::Compute; 2])> {
    if const { K::GROWS } && steps.is_beyond(measured) { measure_scaled(steps, row, eps) } else { None }
}
#[cold]
#[inline(never)]
fn measure_scaled<K: RowSteps, E: Dtype>(steps: K, row: &[E], eps: f64) -> Option<(E, [E::Compute; 2])> {
    let parts = row.iter().map(|x| x.to_compute().unary::<LargestPart>());
    let power = parts.fold(E::Compute::default(), |a, b| a.binary::<LargestPart>(b)).unary::<PowerOfRow>();
    if power == E::Compute::number(1.0) {
        return None;
    }
    let power = E::from_compute(power);
    let eps = beside_powers(E::Compute::number(eps), power.to_compute());
    Some((power, measure(steps, row, eps, |x| times(x, power).to_compute())))
}

/// An element times this power of two.
#[inline(always)]
fn times<E: Dtype>(x: E, power: E) -> E {
    E::from_compute(x.to_compute().binary::<TimesPower>(power.to_compute()))
}

/// `(x - mean) / sqrt(variance + eps)`
#[derive(Clone, Copy)]
pub(crate) struct Standardizing {
    pub(crate) eps: f64,
}
impl RowSteps for Standardizing {
    /// The mean, and the inverse standard deviation.
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
    const GROWS: bool = true;
    #[inline(always)]
    fn is_beyond<C: Compute>(self, [_, scale]: [C; 2]) -> bool {
        has_no_scale(scale)
    }
}
impl<E: Dtype> RowKernel<E, E> for Standardizing {
    fn slope(self) -> RowSlope {
        RowSlope::Standardizing(self.eps)
    }
    const PRECOMPILED: Option<Precompiled> = Some(Precompiled::Standardizing);
    type Measure = [E::Compute; 2];
    #[inline(always)]
    fn measure(self, row: &[E]) -> Self::Measure {
        measure(self, row, E::Compute::number(self.eps), E::to_compute)
    }
    #[inline(always)]
    fn of_large(self, measured: Self::Measure, row: &[E]) -> Option<(E, Self::Measure)> {
        measure_large(self, row, self.eps, measured)
    }
    #[inline(always)]
    fn times(element: E, power: E) -> E {
        times(element, power)
    }
    #[inline(always)]
    fn element(self, measured: Self::Measure, x: E, shared: [Option<E>; 2]) -> E {
        let shared = shared.map(|row| row.map(E::to_compute));
        E::from_compute(RowSteps::element(self, measured, x.to_compute(), shared))
    }
    fn text(self) -> Record<RecordedRow> {
        RecordedRow::of::<E, _>("layer_norm", self)
    }
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
    /// The factor of the elements.
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
    const GROWS: bool = true;
    #[inline(always)]
    fn is_beyond<C: Compute>(self, [scale, _]: [C; 2]) -> bool {
        has_no_scale(scale)
    }
}
impl<E: Dtype> RowKernel<E, E> for RootMeanSquare {
    fn slope(self) -> RowSlope {
        RowSlope::RootMeanSquare(self.eps)
    }
    const PRECOMPILED: Option<Precompiled> = Some(Precompiled::RootMeanSquare);
    type Measure = [E::Compute; 2];
    #[inline(always)]
    fn measure(self, row: &[E]) -> Self::Measure {
        measure(self, row, E::Compute::number(self.eps), E::to_compute)
    }
    #[inline(always)]
    fn of_large(self, measured: Self::Measure, row: &[E]) -> Option<(E, Self::Measure)> {
        measure_large(self, row, self.eps, measured)
    }
    #[inline(always)]
    fn times(element: E, power: E) -> E {
        times(element, power)
    }
    #[inline(always)]
    fn element(self, measured: Self::Measure, x: E, shared: [Option<E>; 2]) -> E {
        let shared = shared.map(|row| row.map(E::to_compute));
        E::from_compute(RowSteps::element(self, measured, x.to_compute(), shared))
    }
    fn text(self) -> Record<RecordedRow> {
        RecordedRow::of::<E, _>("rms_norm", self)
    }
    fn given(self) -> Vec<f64> {
        vec![self.eps]
    }
}
