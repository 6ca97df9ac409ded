//! Reductions: what is kept while elements are met, how two partial results become one, and what comes out.
//!
//! Sums keep `f32` for the half-precision dtypes, `f64` means and squares for variances, and are added pairwise by the
//! device (the tree of partial sums is fixed by the shape, so results do not depend on how work is divided).

use super::Op;
use crate::dtype::{Binary, Castable, Complex, Compute, DType, Dtype, Element, MachineFloat, MachineInt};
use core::marker::PhantomData;

/// A reduction of elements `A` to one `Out`.
pub trait Reducer<A>: Copy + Send + Sync {
    /// What is kept while elements are met.
    type Partial: Copy + Send + Sync;
    /// What comes out.
    type Out: Element;
    /// Whether there is a result for no elements at all.
    const HAS_IDENTITY: bool = true;
    /// Whether this one has a result for no elements at all.
    fn has_identity(self) -> bool {
        Self::HAS_IDENTITY
    }
    /// Nothing met yet.
    fn start(self) -> Self::Partial;
    /// One more element, `index` being its position among those reduced over, in row-major order.
    fn meet(self, partial: Self::Partial, element: A, index: usize) -> Self::Partial;
    /// Two partial results as one. (Elements are met in turn by several partial results, so neither's come before the
    /// other's: what depends on their order must keep the index.)
    fn merge(self, one: Self::Partial, other: Self::Partial) -> Self::Partial;
    /// `len` elements (1 or more), the first of which has position `index`. Several partial results are kept side by side, so
    /// that the elements can be met with vector instructions.
    #[inline(always)]
    fn block(self, get: impl Fn(usize) -> A, len: usize, index: usize) -> Self::Partial {
        if len < LANES {
            return lanes::<A, Self, FEW>(self, get, len, index);
        }
        lanes::<A, Self, LANES>(self, get, len, index)
    }
    /// The result.
    fn finish(self, partial: Self::Partial, count: usize) -> Self::Out;
    /// The same where there is but one result, which PyTorch computes in another way for some reductions.
    fn single(self) -> Self {
        self
    }
}

/// Partial results kept side by side over many elements, and over few.
const LANES: usize = 64;
pub(super) const FEW: usize = 8;

/// Meets elements in `N` partial results in turn, and merges them: halves, quarters, ….
#[inline(always)]
pub(super) fn lanes<A, R: Reducer<A>, const N: usize>(
    reducer: R,
    get: impl Fn(usize) -> A,
    len: usize,
    index: usize,
) -> R::Partial {
    let mut lanes = [reducer.start(); N];
    let full = len / N * N;
    let mut position = 0;
    while position < full {
        for (lane, partial) in lanes.iter_mut().enumerate() {
            *partial = reducer.meet(*partial, get(position + lane), index + position + lane);
        }
        position += N;
    }
    if full < len {
        // Of their own, so that the compiler can keep the others in vectors.
        let mut rest = [reducer.start(); N];
        for (lane, partial) in rest.iter_mut().enumerate().take(len - full) {
            *partial = reducer.meet(*partial, get(full + lane), index + full + lane);
        }
        for (lane, rest) in lanes.iter_mut().zip(rest) {
            *lane = reducer.merge(*lane, rest);
        }
    }
    let mut width = N / 2;
    while width > 0 {
        let (low, high) = lanes.split_at_mut(width);
        for (low, high) in low.iter_mut().zip(high) {
            *low = reducer.merge(*low, *high);
        }
        width /= 2;
    }
    lanes[0]
}

/// The sum of `term` over elements side by side: in blocks, and several sums side by side within a block, so that it vectorises
/// and loses little.
#[inline(always)]
pub(crate) fn total<E, C: Compute>(elements: &[E], term: impl Fn(&E) -> C) -> C {
    let mut total = C::default();
    for block in elements.chunks(64 * LANES) {
        let mut sums = [C::default(); LANES];
        let (chunks, rest) = block.as_chunks::<LANES>();
        for chunk in chunks {
            for (sum, x) in sums.iter_mut().zip(chunk) {
                *sum = sum.binary::<Accumulating>(term(x));
            }
        }
        for (sum, x) in sums.iter_mut().zip(rest) {
            *sum = sum.binary::<Accumulating>(term(x));
        }
        let mut width = LANES / 2;
        while width > 0 {
            let (low, high) = sums.split_at_mut(width);
            for (low, high) in low.iter_mut().zip(high) {
                *low = low.binary::<Accumulating>(*high);
            }
            width /= 2;
        }
        total = total.binary::<Accumulating>(sums[0]);
    }
    total
}

/// Declares the marker of an operation that is not elementwise.
macro_rules! op {
    ($($name:ident)*) => {$(
        #[doc = concat!("The operation `", stringify!($name), "`.")]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name {}
        impl Op for $name {
            const NAME: &'static str = stringify!($name);
        }
    )*};
}
pub(super) use op;
op!(sum prod mean var std min max amin amax argmin argmax any all);
op!(cumsum softmax log_softmax logsumexp matmul clamp imag where_ pad trace bernoulli multinomial);
op!(layer_norm rms_norm normalize);
op!(nansum nanmean count_nonzero vector_norm norm aminmax var_mean std_mean);
op!(cumprod cummax cummin logcumsumexp diff trapezoid cumulative_trapezoid);
op!(mm mv bmm dot vdot vecdot inner outer linear addmm addmv addr addbmm baddbmm tensordot kron multi_dot);
op!(dist cdist cov corrcoef cross bincount histc);

type Over<T> = PhantomData<fn() -> T>;

/// Adding up. Unlike [`add`](super::add) it does not multiply by `alpha`, so that the parts of a complex sum stay apart.
pub(crate) struct Accumulating;
impl Binary for Accumulating {
    #[inline(always)]
    fn boolean(a: bool, b: bool) -> bool {
        a | b
    }
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        a.wrapping_add(&b)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        a + b
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        a + b
    }
}

/// The sum, in the dtype `E::Sum`.
#[derive(Clone, Copy)]
pub struct Summing;
impl<E: Dtype> Reducer<E> for Summing {
    type Partial = <E::Sum as Dtype>::Compute;
    type Out = E::Sum;
    #[inline(always)]
    fn start(self) -> Self::Partial {
        Default::default()
    }
    #[inline(always)]
    fn meet(self, partial: Self::Partial, element: E, _: usize) -> Self::Partial {
        partial.binary::<Accumulating>(element.cast::<E::Sum>().to_compute())
    }
    #[inline(always)]
    fn merge(self, one: Self::Partial, other: Self::Partial) -> Self::Partial {
        one.binary::<Accumulating>(other)
    }
    #[inline(always)]
    fn finish(self, partial: Self::Partial, _: usize) -> E::Sum {
        Dtype::from_compute(partial)
    }
}

/// The product, in the dtype `E::Sum`.
#[derive(Clone, Copy)]
pub struct Multiplying;
impl<E: Dtype> Reducer<E> for Multiplying {
    type Partial = <E::Sum as Dtype>::Compute;
    type Out = E::Sum;
    #[inline(always)]
    fn start(self) -> Self::Partial {
        E::Sum::from_i32(1).to_compute()
    }
    #[inline(always)]
    fn meet(self, partial: Self::Partial, element: E, _: usize) -> Self::Partial {
        partial.binary::<super::mul>(element.cast::<E::Sum>().to_compute())
    }
    #[inline(always)]
    fn merge(self, one: Self::Partial, other: Self::Partial) -> Self::Partial {
        one.binary::<super::mul>(other)
    }
    #[inline(always)]
    fn finish(self, partial: Self::Partial, _: usize) -> E::Sum {
        Dtype::from_compute(partial)
    }
}

/// The mean: NaN of nothing.
#[derive(Clone, Copy)]
pub struct Averaging;
impl<E: Dtype> Reducer<E> for Averaging {
    type Partial = E::Compute;
    type Out = E;
    #[inline(always)]
    fn start(self) -> E::Compute {
        Default::default()
    }
    #[inline(always)]
    fn meet(self, partial: E::Compute, element: E, _: usize) -> E::Compute {
        partial.binary::<Accumulating>(element.to_compute())
    }
    #[inline(always)]
    fn merge(self, one: E::Compute, other: E::Compute) -> E::Compute {
        one.binary::<Accumulating>(other)
    }
    #[inline(always)]
    fn finish(self, partial: E::Compute, count: usize) -> E {
        E::from_compute(partial.binary::<super::div>(<E::Compute as Castable>::from_f64(count as f64)))
    }
}

/// Running count, mean and sum of squared deviations (Welford), of both parts of complex numbers.
#[derive(Clone, Copy, Default)]
pub struct Moments {
    count: f64,
    mean: [f64; 2],
    squares: [f64; 2],
}

/// The variance; its root with `ROOT`.
#[derive(Clone, Copy)]
pub struct Varying<const ROOT: bool> {
    correction: f64,
    single: bool,
}
impl<const ROOT: bool> Varying<ROOT> {
    /// `correction` is how many degrees of freedom the mean has used up (PyTorch's default is 1).
    pub const fn new(correction: usize) -> Self {
        Varying { correction: correction as f64, single: false }
    }
}
impl<const ROOT: bool, E: Dtype> Reducer<E> for Varying<ROOT> {
    type Partial = Moments;
    type Out = E::RealDtype;
    #[inline(always)]
    fn start(self) -> Moments {
        Moments::default()
    }
    #[inline(always)]
    fn meet(self, mut partial: Moments, element: E, _: usize) -> Moments {
        let value: num_complex::Complex<f64> = element.cast();
        partial.count += 1.0;
        for (part, value) in [value.re, value.im].into_iter().enumerate() {
            let delta = value - partial.mean[part];
            partial.mean[part] += delta / partial.count;
            partial.squares[part] += delta * (value - partial.mean[part]);
        }
        partial
    }
    /// The mean first, then the squared deviations from it: two passes over a block that lies in the cache.
    #[inline(always)]
    fn block(self, get: impl Fn(usize) -> E, len: usize, index: usize) -> Moments {
        let count = len as f64;
        let parts = if E::DTYPE.is_complex() { 2 } else { 1 };
        let mut moments = Moments { count, ..Moments::default() };
        for part in 0..parts {
            let value = |i: usize| {
                let value: num_complex::Complex<f64> = get(i).cast();
                if part == 0 { value.re } else { value.im }
            };
            let mean = Summing.block(value, len, index) / count;
            let deviation = |i: usize| {
                let deviation = value(i) - mean;
                deviation * deviation
            };
            (moments.mean[part], moments.squares[part]) = (mean, Summing.block(deviation, len, index));
        }
        moments
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
        let variance = squares / freedom;
        Castable::from_f64(if ROOT { variance.sqrt() } else { variance })
    }
    fn single(self) -> Self {
        Varying { single: true, ..self }
    }
}

/// The extreme element and its position: the largest with `MAX`, else the smallest. NaN is more extreme than any
/// number; of equals the first counts.
#[derive(Clone, Copy)]
pub struct Extreme<E, const MAX: bool> {
    over: Over<E>,
}
impl<E, const MAX: bool> Extreme<E, MAX> {
    /// The reduction.
    pub const fn new() -> Self {
        Extreme { over: PhantomData }
    }
}
impl<E, const MAX: bool> Default for Extreme<E, MAX> {
    fn default() -> Self {
        Self::new()
    }
}
impl<E: Dtype, const MAX: bool> Extreme<E, MAX> {
    #[inline(always)]
    fn beats(challenger: E::Compute, champion: E::Compute) -> bool {
        if MAX { challenger.compare::<super::gt>(champion) } else { challenger.compare::<super::lt>(champion) }
    }
    /// The extreme of some elements, a NaN if there is one: without a branch, so that it vectorises.
    #[inline(always)]
    fn champion(get: impl Fn(usize) -> E, len: usize) -> E::Compute {
        if len < LANES { Self::champion_of::<FEW>(get, len) } else { Self::champion_of::<LANES>(get, len) }
    }
    #[inline(always)]
    fn champion_of<const N: usize>(get: impl Fn(usize) -> E, len: usize) -> E::Compute {
        let better = |champion: E::Compute, challenger: E::Compute| {
            // Nothing beats a NaN, so it stays.
            let wins = Self::beats(challenger, champion) | challenger.predicate::<super::isnan>();
            if wins { challenger } else { champion }
        };
        let element = |i: usize| get(i).to_compute();
        let mut champions = [element(0); N];
        let full = len / N * N;
        for start in (0..full).step_by(N) {
            for (lane, champion) in champions.iter_mut().enumerate() {
                *champion = better(*champion, element(start + lane));
            }
        }
        if full < len {
            // Of their own, so that the compiler can keep the others in vectors.
            let mut rest = [element(full); N];
            for (lane, champion) in rest.iter_mut().enumerate().take(len - full) {
                *champion = element(full + lane);
            }
            for (champion, rest) in champions.iter_mut().zip(rest) {
                *champion = better(*champion, rest);
            }
        }
        let mut width = N / 2;
        while width > 0 {
            let (low, high) = champions.split_at_mut(width);
            for (low, high) in low.iter_mut().zip(high) {
                *low = better(*low, *high);
            }
            width /= 2;
        }
        champions[0]
    }
    #[inline(always)]
    fn pick(first: Option<E>, second: E) -> Option<E> {
        let Some(champion) = first else { return Some(second) };
        let (a, b) = (champion.to_compute(), second.to_compute());
        let nan = |x: E::Compute| x.predicate::<super::isnan>();
        Some(if Self::beats(b, a) || (nan(b) && !nan(a)) { second } else { champion })
    }
}
impl<E: Dtype, const MAX: bool> Reducer<E> for Extreme<E, MAX> {
    type Partial = Option<E>;
    type Out = E;
    const HAS_IDENTITY: bool = false;
    #[inline(always)]
    fn start(self) -> Option<E> {
        None
    }
    #[inline(always)]
    fn meet(self, partial: Option<E>, element: E, _: usize) -> Option<E> {
        Self::pick(partial, element)
    }
    #[inline(always)]
    fn block(self, get: impl Fn(usize) -> E, len: usize, _: usize) -> Option<E> {
        let champion = Self::champion(&get, len);
        if champion.predicate::<super::isnan>() {
            return (0..len).map(get).find(|x| x.to_compute().predicate::<super::isnan>());
        }
        Some(E::from_compute(champion))
    }
    #[inline(always)]
    fn merge(self, one: Option<E>, other: Option<E>) -> Option<E> {
        match other {
            Some(other) => Self::pick(one, other),
            None => one,
        }
    }
    #[inline(always)]
    fn finish(self, partial: Option<E>, _: usize) -> E {
        // Devices do not run a reduction without identity over nothing.
        partial.unwrap_or_default()
    }
}

/// The position of the extreme element.
#[derive(Clone, Copy)]
pub struct ArgExtreme<E, const MAX: bool> {
    over: Over<E>,
}
impl<E, const MAX: bool> ArgExtreme<E, MAX> {
    /// The reduction.
    pub const fn new() -> Self {
        ArgExtreme { over: PhantomData }
    }
}
impl<E, const MAX: bool> Default for ArgExtreme<E, MAX> {
    fn default() -> Self {
        Self::new()
    }
}
impl<E: Dtype, const MAX: bool> Reducer<E> for ArgExtreme<E, MAX> {
    type Partial = Option<(E, usize)>;
    type Out = i64;
    const HAS_IDENTITY: bool = false;
    #[inline(always)]
    fn start(self) -> Self::Partial {
        None
    }
    #[inline(always)]
    fn meet(self, partial: Self::Partial, element: E, index: usize) -> Self::Partial {
        self.merge(partial, Some((element, index)))
    }
    /// The extreme first, then where it stands.
    #[inline(always)]
    fn block(self, get: impl Fn(usize) -> E, len: usize, index: usize) -> Self::Partial {
        let champion = Extreme::<E, MAX>::champion(&get, len);
        let is_nan = champion.predicate::<super::isnan>();
        let found = |x: E| {
            let x = x.to_compute();
            if is_nan { x.predicate::<super::isnan>() } else { x == champion }
        };
        // Sixteen at a time, which vectorises.
        let mut start = 0;
        while start + 16 <= len && !(start..start + 16).fold(false, |any, i| any | found(get(i))) {
            start += 16;
        }
        (start..len).find(|&i| found(get(i))).map(|i| (get(i), index + i))
    }
    #[inline(always)]
    fn merge(self, one: Self::Partial, other: Self::Partial) -> Self::Partial {
        match (one, other) {
            (Some((champion, at)), Some((challenger, index))) => {
                let (a, b) = (champion.to_compute(), challenger.to_compute());
                let nan = |x: E::Compute| x.predicate::<super::isnan>();
                let wins = match (nan(a), nan(b)) {
                    (false, false) => Extreme::<E, MAX>::beats(b, a) || (a == b && index < at),
                    (true, true) => index < at,
                    (_, challenger_is_nan) => challenger_is_nan,
                };
                Some(if wins { (challenger, index) } else { (champion, at) })
            }
            (one, None) => one,
            (None, other) => other,
        }
    }
    #[inline(always)]
    fn finish(self, partial: Self::Partial, _: usize) -> i64 {
        partial.map_or(0, |(_, at)| at as i64)
    }
}

/// Whether any element (`ALL`: every element) is non-zero.
#[derive(Clone, Copy)]
pub struct Questioning<const ALL: bool>;
impl<const ALL: bool, E: Dtype> Reducer<E> for Questioning<ALL> {
    type Partial = bool;
    type Out = bool;
    #[inline(always)]
    fn start(self) -> bool {
        ALL
    }
    #[inline(always)]
    fn meet(self, partial: bool, element: E, _: usize) -> bool {
        self.fold(partial, element.cast())
    }
    #[inline(always)]
    fn merge(self, one: bool, other: bool) -> bool {
        self.fold(one, other)
    }
    #[inline(always)]
    fn finish(self, partial: bool, _: usize) -> bool {
        partial
    }
}
impl<const ALL: bool> Questioning<ALL> {
    #[inline(always)]
    fn fold(self, a: bool, b: bool) -> bool {
        if ALL { a & b } else { a | b }
    }
}
