//! Variance and standard deviation. A block takes two passes (mean, squared deviations); blocks are merged by Chan's
//! formula.
//!
//! Uses the lanes of partial results; used by `tensor` and `any`.

use super::{Reducer, TwoResults, blocked_sum};
use crate::dtype::{Castable, Complex, DType, Dtype};

/// Count, mean and sum of squared deviations, of both parts of complex numbers.
#[derive(Clone, Copy, Default)]
pub struct Moments {
    count: f64,
    mean: [f64; 2],
    squares: [f64; 2],
}

/// The mean by running updates, which do not overflow.
#[cold]
#[inline(never)]
fn running_mean<E>(elements: &[E], value: impl Fn(&E) -> f64) -> f64 {
    elements.iter().zip(1_u64..).fold(0.0, |mean, (x, accumulated)| mean + (value(x) - mean) / accumulated as f64)
}

/// Corrects infinite means of summed numbers to PyTorch's running updates: NaN if anything follows an infinity.
#[cold]
#[inline(never)]
fn means_after_infinities<E: Dtype>(elements: &[E], mut means: [f64; 2]) -> [f64; 2] {
    let before_last = elements.split_last().map_or(&[][..], |(_, others)| others);
    for &element in before_last {
        let value: Complex<f64> = element.cast();
        for (mean, part) in means.iter_mut().zip([value.re, value.im]) {
            if part.is_infinite() {
                *mean = f64::NAN;
            }
        }
    }
    means
}

/// The variance or the standard deviation.
#[derive(Clone, Copy)]
pub struct Variance {
    correction: f64,
    is_root: bool,
    single: bool,
}
impl Variance {
    /// The variance with a correction to the degrees of freedom (PyTorch's default is 1).
    pub const fn var(correction: f64) -> Self {
        Variance { correction, is_root: false, single: false }
    }
    /// The standard deviation.
    pub const fn std(correction: f64) -> Self {
        Variance { correction, is_root: true, single: false }
    }
}
impl<E: Dtype> Reducer<E> for Variance {
    type Partial = Moments;
    type Out = E::RealDtype;
    const PREFERS_BLOCKS: bool = true;
    #[inline(always)]
    fn start(self) -> Moments {
        Moments::default()
    }
    #[inline(always)]
    fn accumulate(self, mut partial: Moments, element: E, _: usize) -> Moments {
        let value: num_complex::Complex<f64> = element.cast();
        partial.count += 1.0;
        for (part, value) in [value.re, value.im].into_iter().enumerate() {
            let delta = value - partial.mean[part];
            partial.mean[part] += delta / partial.count;
            partial.squares[part] += delta * (value - partial.mean[part]);
        }
        partial
    }
    /// Two passes over a block that is in the cache: the mean, then the squared deviations from it.
    #[inline(always)]
    fn block(self, elements: &[E], _: usize) -> Moments {
        let count = elements.len() as f64;
        let parts = if E::DTYPE.is_complex() { 2 } else { 1 };
        let mut moments = Moments { count, ..Moments::default() };
        for part in 0..parts {
            let value = |x: &E| {
                let value: num_complex::Complex<f64> = x.cast();
                if part == 0 { value.re } else { value.im }
            };
            let mut mean = blocked_sum(elements, value) / count;
            // The sum of doubles may overflow where their mean does not.
            if matches!(E::DTYPE, DType::F64 | DType::C128) && mean.is_infinite() {
                mean = running_mean(elements, value);
            }
            let deviation = |x: &E| {
                let deviation = value(x) - mean;
                deviation * deviation
            };
            (moments.mean[part], moments.squares[part]) = (mean, blocked_sum(elements, deviation));
        }
        // After both passes: a branch between them halves the speed of the loops.
        let is_summed = !matches!(E::DTYPE, DType::F64 | DType::C128);
        if is_summed && moments.mean.iter().any(|mean| mean.is_infinite()) {
            moments.mean = means_after_infinities(elements, moments.mean);
        }
        moments
    }
    #[inline(always)]
    fn block_small(self, elements: &[E], index: usize) -> Moments {
        Reducer::<E>::block(self, elements, index)
    }
    #[inline(always)]
    fn merge(self, one: Moments, other: Moments) -> Moments {
        if one.count == 0.0 {
            return other;
        }
        if other.count == 0.0 {
            return one;
        }
        let count = one.count + other.count;
        let mut merged = Moments { count, ..one };
        for part in 0..2 {
            let delta = other.mean[part] - one.mean[part];
            merged.mean[part] += delta * other.count / count;
            merged.squares[part] += other.squares[part] + delta * delta * one.count * other.count / count;
        }
        merged
    }
    #[inline(always)]
    fn finish(self, partial: Moments, _: usize) -> E::RealDtype {
        let freedom = (partial.count - self.correction).max(0.0);
        let mut squares = partial.squares[0] + if E::DTYPE.is_complex() { partial.squares[1] } else { 0.0 };
        // PyTorch sums in the tensor's dtype for the mean here; where that sum overflows, so does the variance.
        // Source: `aten/src/ATen/native/ReduceOps.cpp`, `std_var_all_cpu`.
        if self.single && matches!(E::DTYPE, DType::F32 | DType::F64) {
            let sum: E = Castable::from_f64(partial.mean[0] * partial.count);
            if partial.mean[0].is_finite() && sum.cast::<f64>().is_infinite() {
                squares = f64::INFINITY;
            }
        }
        // No elements have no variance, whatever the correction.
        let variance = if partial.count == 0.0 { f64::NAN } else { squares / freedom };
        Castable::from_f64(if self.is_root { variance.sqrt() } else { variance })
    }
    fn single(self) -> Self {
        Variance { single: true, ..self }
    }
}

/// The mean comes with the variance.
impl<E: Dtype> TwoResults<E> for Variance {
    type Second = E;
    fn second(self, partial: Moments, count: usize) -> E {
        let [re, im] = if count > 0 { partial.mean } else { [f64::NAN; 2] };
        if E::DTYPE.is_complex() { Complex::new(re, im).cast() } else { re.cast() }
    }
}
