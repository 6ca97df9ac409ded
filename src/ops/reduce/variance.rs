//! Variance and standard deviation. A block takes two passes (mean, then squared deviations); blocks are merged by Chan's formula.

use super::steps::{Given, ImaginaryPart, RealPart, by_steps};
use super::{Accumulating, Index, Reducer, Steps, StepsOfTwo, TwoResults, blocked_sum};
use crate::dtype::{Castable, Complex, Compute, DType, Dtype};
use crate::ops;
use crate::ops::kernel::Precompiled;
use crate::ops::record::reduce::{Record, RecordedReducer, Reduction};

/// The rows of variances in the table of reductions.
macro_rules! variance_rows {
    ($reader:tt { $($rows:tt)* } $($files:ident)*) => {
        $crate::ops::table::joined! { $reader { $($rows)*
            var { var_axis inexact real (correction: usize), Variance::var(correction as f64),
                "The variance, of floating and complex dtypes; real. `correction` is the number of degrees of freedom the mean has \
                used up: 1 (PyTorch's default) for a sample, 0 for a population. NaN where no freedom is left.", "torch.var",
                "tensor![[1.0, 3.0], [2.0, 2.0]]" ("0") = "0.5" axis "1" = "[1.0, 0.0]",
                #[doc(alias = "variance")]
                fn [] dims [correction: f64] keepdim [] "Some(&[1]), 0.0, false" }
            std { std_axis inexact real (correction: usize), Variance::std(correction as f64),
                "The standard deviation, of floating and complex dtypes; real: the root of the variance.", "torch.std",
                "tensor![[1.0, 5.0], [3.0, 3.0]]" ("0") = "2f32.sqrt()" axis "1" = "[2.0, 0.0]",
                #[doc(alias = "standard deviation")]
                fn [] dims [correction: f64] keepdim [] "Some(&[1]), 0.0, false" }
        } $($files)* }
    };
}
pub(crate) use variance_rows;

/// Count, mean and sum of squared deviations, for both parts of complex numbers.
#[derive(Clone, Copy)]
pub struct Moments<T = f64, const N: usize = 2> {
    pub(crate) count: T,
    pub(crate) mean: [T; N],
    pub(crate) squares: [T; N],
}

#[inline(always)]
fn plus<T: Compute>(a: T, b: T) -> T {
    a.binary::<Accumulating>(b)
}
#[inline(always)]
fn minus<T: Compute>(a: T, b: T) -> T {
    a.binary::<ops::sub>(b)
}
#[inline(always)]
fn times<T: Compute>(a: T, b: T) -> T {
    a.binary::<ops::mul>(b)
}
#[inline(always)]
fn over<T: Compute>(a: T, b: T) -> T {
    a.binary::<ops::div>(b)
}

/// The steps of variances, element by element, for `N` parts per element.
#[derive(Clone, Copy)]
pub(crate) struct Spread<const N: usize> {
    is_root: bool,
    /// The sum from which on the variance is not defined.
    limit: Option<f64>,
}
impl<const N: usize> Steps for Spread<N> {
    type Partial<C: Compute, I: Index> = Moments<C::Real, N>;
    type Out<C: Compute, I: Index> = C::Real;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> Moments<C::Real, N> {
        let none = C::Real::default();
        Moments { count: none, mean: [none; N], squares: [none; N] }
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(
        self,
        mut partial: Moments<C::Real, N>,
        element: C,
        _: I,
        _: Given<C>,
    ) -> Moments<C::Real, N> {
        partial.count = plus(partial.count, C::Real::number(1.0));
        for part in 0..N {
            let value = if part == 0 { element.to_real::<RealPart>() } else { element.to_real::<ImaginaryPart>() };
            let delta = minus(value, partial.mean[part]);
            partial.mean[part] = plus(partial.mean[part], over(delta, partial.count));
            partial.squares[part] = plus(partial.squares[part], times(delta, minus(value, partial.mean[part])));
        }
        partial
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, one: Moments<C::Real, N>, other: Moments<C::Real, N>) -> Moments<C::Real, N> {
        let none = C::Real::default();
        if one.count == none {
            return other;
        }
        if other.count == none {
            return one;
        }
        let count = plus(one.count, other.count);
        let mut merged = Moments { count, ..one };
        for part in 0..N {
            let delta = minus(other.mean[part], one.mean[part]);
            merged.mean[part] = plus(merged.mean[part], over(times(delta, other.count), count));
            let between = over(times(times(times(delta, delta), one.count), other.count), count);
            merged.squares[part] = plus(merged.squares[part], plus(other.squares[part], between));
        }
        merged
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, partial: Moments<C::Real, N>, _: C, [correction, _]: Given<C>) -> C::Real {
        let freedom = minus(partial.count, correction).binary::<ops::fmax>(C::Real::default());
        let mut squares = partial.squares[0];
        for &others in &partial.squares[1..] {
            squares = plus(squares, others);
        }
        // PyTorch computes the mean from a sum in the tensor's dtype here; where that sum overflows, so does the variance.
        // Source: `aten/src/ATen/native/ReduceOps.cpp`, `std_var_all_cpu`.
        if let Some(limit) = self.limit {
            let sum = times(partial.mean[0], partial.count);
            let overflows =
                sum.compare::<ops::ge>(C::Real::number(limit)) || sum.compare::<ops::le>(C::Real::number(-limit));
            if overflows && partial.mean[0].predicate::<ops::isfinite>() {
                squares = C::Real::number(f64::INFINITY);
            }
        }
        // The variance of no elements is NaN, whatever the correction.
        let variance =
            if partial.count == C::Real::default() { C::Real::number(f64::NAN) } else { over(squares, freedom) };
        if self.is_root { variance.unary::<ops::sqrt>() } else { variance }
    }
}
/// The second result is the mean.
impl<const N: usize> StepsOfTwo for Spread<N> {
    type Second<C: Compute, I: Index> = [C::Real; N];
    #[inline(always)]
    fn second<C: Compute, I: Index>(self, partial: Moments<C::Real, N>) -> [C::Real; N] {
        if partial.count == C::Real::default() { [C::Real::number(f64::NAN); N] } else { partial.mean }
    }
}

/// The mean by running updates, which cannot overflow.
#[cold]
#[inline(never)]
fn running_mean<E>(elements: &[E], value: impl Fn(&E) -> f64) -> f64 {
    elements.iter().zip(1_u64..).fold(0.0, |mean, (x, accumulated)| mean + (value(x) - mean) / accumulated as f64)
}

/// Changes infinite means from sums to PyTorch's running updates: NaN if anything follows an infinity.
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

/// Columns whose moments are held in registers.
const COLUMNS: usize = 64;

/// Adds the moments of `N` columns of real numbers from `first` on: two passes over cached rows.
#[inline(always)]
fn add_columns<'a, E: Dtype, const N: usize>(
    partials: &mut [Moments],
    first: usize,
    rows: usize,
    row: &impl Fn(usize) -> &'a [E],
    merge: impl Fn(Moments, Moments) -> Moments,
) {
    let value = |x: E| -> f64 { x.cast() };
    let mut mean = [0.0; N];
    for at in 0..rows {
        if let Some(elements) = row(at)[first..].first_chunk::<N>() {
            for column in 0..N {
                mean[column] += value(elements[column]);
            }
        }
    }
    for mean in &mut mean {
        *mean /= rows as f64;
    }
    let mut squares = [0.0; N];
    for at in 0..rows {
        if let Some(elements) = row(at)[first..].first_chunk::<N>() {
            for column in 0..N {
                let deviation = value(elements[column]) - mean[column];
                squares[column] += deviation * deviation;
            }
        }
    }
    for column in 0..N {
        let (partial, mut mean) = (&mut partials[first + column], mean[column]);
        if mean.is_infinite() && (0..rows - 1).any(|at| value(row(at)[first + column]).is_infinite()) {
            // As `means_after_infinities` says.
            mean = f64::NAN;
        }
        let own = Moments { count: rows as f64, mean: [mean, 0.0], squares: [squares[column], 0.0] };
        *partial = merge(*partial, own);
    }
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
    /// Its steps over `N` parts of elements of this dtype.
    #[inline(always)]
    pub(crate) fn steps<const N: usize>(self, dtype: DType) -> Spread<N> {
        let limit = match dtype {
            DType::F32 if self.single => Some(F32_OVERFLOWS),
            DType::F64 if self.single => Some(f64::INFINITY),
            _ => None,
        };
        Spread { is_root: self.is_root, limit }
    }
}

/// The smallest number that rounds to an infinite `f32`.
const F32_OVERFLOWS: f64 = (2.0 - 1.0 / 16_777_216.0) * 170_141_183_460_469_231_731_687_303_715_884_105_728.0;

impl<E: Dtype> Reducer<E> for Variance {
    const SLOPE: crate::ops::slope::ReduceSlope = crate::ops::slope::ReduceSlope::Variance;
    fn numbers(self) -> [f64; 2] {
        [self.correction, f64::from(u8::from(self.is_root))]
    }
    const PRECOMPILED: Option<Precompiled> = Some(Precompiled::Variance);
    type Partial = Moments;
    type Out = E::RealDtype;
    const PREFERS_BLOCKS: bool = true;
    const HAS_BLOCKS_OF_ROWS: bool = matches!(E::DTYPE, DType::F32);
    fn cost(self) -> usize {
        8
    }
    by_steps! { self: self.steps::<2>(E::DTYPE), Complex<f64>, usize, [self.correction, 0.0];
        |x| x.cast::<Complex<f64>>(); |variance| Castable::from_f64(variance)
    }
    /// Two passes over a cached block: the mean, then the squared deviations from it.
    #[inline(always)]
    fn block(self, elements: &[E], _: usize) -> Moments {
        let count = elements.len() as f64;
        let parts = if const { E::DTYPE.is_complex() } { 2 } else { 1 };
        let mut moments = Moments { count, mean: [0.0; 2], squares: [0.0; 2] };
        for part in 0..parts {
            let value = |x: &E| {
                let value: num_complex::Complex<f64> = x.cast();
                if part == 0 { value.re } else { value.im }
            };
            let mut mean = blocked_sum(elements, value) / count;
            // A sum of doubles may overflow where their mean does not.
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
    fn block_of_rows<'a>(self, partials: &mut [Moments], rows: usize, row: impl Fn(usize) -> &'a [E])
    where
        E: 'a,
    {
        let merge = |one, other| Reducer::<E>::merge(self, one, other);
        let mut first = 0;
        while rows > 0 && first < partials.len() {
            if first + COLUMNS <= partials.len() {
                add_columns::<E, COLUMNS>(partials, first, rows, &row, merge);
                first += COLUMNS;
            } else if first + 8 <= partials.len() {
                add_columns::<E, 8>(partials, first, rows, &row, merge);
                first += 8;
            } else {
                add_columns::<E, 1>(partials, first, rows, &row, merge);
                first += 1;
            }
        }
    }
    fn single(self) -> Self {
        Variance { single: true, ..self }
    }
    fn text(self) -> Record<RecordedReducer> {
        let name = match (self.is_root, self.single) {
            (false, false) => "var",
            (false, true) => "var_of_all",
            (true, false) => "std",
            (true, true) => "std_of_all",
        };
        let reduction = Reduction::of::<E>(name).gives::<E::RealDtype>().and::<E>().given(1);
        if const { E::DTYPE.is_complex() } {
            reduction.computes::<Complex<f64>>().read_two(self.steps::<2>(E::DTYPE))
        } else {
            let text = reduction.computes::<f64>().read_two(self.steps::<1>(E::DTYPE));
            text.map(|mut text| {
                text.has_moments = true;
                text
            })
        }
    }
    fn form(self) -> u32 {
        u32::from(self.is_root) + 2 * u32::from(self.single)
    }
    fn given(self) -> Vec<f64> {
        vec![self.correction]
    }
}

/// The second result is the mean.
impl<E: Dtype> TwoResults<E> for Variance {
    type Second = E;
    fn second(self, partial: Moments, _: usize) -> E {
        let [re, im] = StepsOfTwo::second::<Complex<f64>, usize>(self.steps::<2>(E::DTYPE), partial);
        if const { E::DTYPE.is_complex() } { Complex::new(re, im).cast() } else { re.cast() }
    }
}
