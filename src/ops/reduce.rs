//! Reductions: what is kept while elements are met, how two partial results become one, and what comes out.
//!
//! Sums keep `f32` for the half-precision dtypes, `f64` means and squares for variances, and are added pairwise by the
//! device (the tree of partial sums is fixed by the shape, so results do not depend on how work is divided).

use super::Op;
#[cfg(any(test, feature = "cuda"))]
pub(crate) use super::extreme::Best;
pub use super::extreme::{ArgExtreme, BothExtremes, Extreme};
use crate::cpu::simd;
use crate::dtype::{Binary, Castable, Complex, Compute, DType, Dtype, Element, MachineFloat, MachineInt};

/// A reduction of elements `A` to one `Out`.
pub trait Reducer<A: Copy>: Copy + Send + Sync {
    /// What is kept while elements are met.
    type Partial: Copy + Send + Sync;
    /// What comes out.
    type Out: Element;
    /// Whether there is a result for no elements at all.
    const HAS_IDENTITY: bool = true;
    /// Whether it matters where elements stand. If not, axes may be reduced over in another order.
    const HAS_POSITIONS: bool = false;
    /// Whether it matters how often an element comes. If not, one that is repeated (by a stride of 0) is met once.
    const COUNTS_REPEATS: bool = true;
    /// Whether elements in blocks cost far less than elements met one by one.
    const BY_BLOCKS: bool = false;
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
    /// Elements side by side, the first of which has position `index`. Of many, several partial results are kept, so that they
    /// can be met with vector instructions.
    #[inline(always)]
    fn block(self, elements: &[A], index: usize) -> Self::Partial {
        // As many vectors of each dtype; what is converted on the way needs registers for that. (`if const`, unlike `match`, leaves no
        // code of the sizes that are not these.)
        let (mut met, mut rest, mut first) = (None, elements, 0);
        if const { matches!((size_of::<A>(), size_of::<Self::Partial>()), (1, 1) | (2, 2) | (4 | 8, 8) | (16, 16)) }
            && rest.len() >= const { if size_of::<Self::Partial>() == 8 { 256 } else { LONG } }
        {
            if const { size_of::<A>() == 1 } {
                (met, rest) = long::<A, Self, 256>(self, elements, index);
            }
            if const { size_of::<A>() == 2 } {
                (met, rest) = long::<A, Self, 128>(self, elements, index);
            }
            if const { matches!(size_of::<A>(), 4 | 8) } {
                (met, rest) = long::<A, Self, 32>(self, elements, index);
            }
            if const { size_of::<A>() == 16 } {
                (met, rest) = long::<A, Self, 16>(self, elements, index);
            }
            first = elements.len() - rest.len();
        }
        match met {
            Some(met) if rest.is_empty() => met,
            Some(met) => self.merge(met, short(self, rest, index + first)),
            None => short(self, rest, index),
        }
    }
    /// Whether it has a form of [`several`](Self::several) that is faster than one line after another.
    const BY_SEVERAL: bool = false;
    /// Several lines of 64 elements or more, equally long, none of which knows where it stands. (Reductions that take little time for
    /// an element take them together: no line waits for the one before it.) How many lines there are makes no difference to any; each
    /// gives what [`block`](Self::block) gives.
    #[inline(always)]
    fn several<const M: usize>(self, lines: [&[A]; M]) -> [Self::Partial; M] {
        lines.map(|line| self.block(line, 0))
    }
    /// Whether elements are halves that are brought to `f32` side by side before they are met.
    const WIDENS: bool = false;
    /// One more element that has been.
    #[inline(always)]
    fn meet_wide(self, _: Self::Partial, _: f32) -> Self::Partial {
        unreachable!("only reductions that widen are asked to")
    }
    /// The result.
    fn finish(self, partial: Self::Partial, count: usize) -> Self::Out;
    /// The same where there is but one result, which PyTorch computes in another way for some reductions.
    fn single(self) -> Self {
        self
    }
}

/// A reduction with a second result, which follows from what is kept for the first.
pub trait TwoResults<A: Copy>: Reducer<A> {
    /// What else comes out.
    type Second: Element;
    /// The second result.
    fn second(self, partial: Self::Partial, count: usize) -> Self::Second;
}

/// How many elements are many; partial results kept side by side over them, and over few.
pub(crate) const MANY: usize = 64;
const LANES: usize = 16;
/// A long line, and how many of its elements a partial result meets before the next one does.
const LONG: usize = 1024;
const GROUP: usize = 4;
pub(super) const FEW: usize = 8;

/// Merges what is kept side by side: halves, quarters, ….
#[inline(always)]
pub(crate) fn halve<T: Copy, const N: usize>(mut lanes: [T; N], merge: impl Fn(T, T) -> T) -> T {
    let mut width = N / 2;
    while width > 0 {
        let (low, high) = lanes.split_at_mut(width);
        for (low, high) in low.iter_mut().zip(high) {
            *low = merge(*low, *high);
        }
        width /= 2;
    }
    lanes[0]
}

/// Meets elements in turn.
#[inline(always)]
fn one_by_one<A: Copy, R: Reducer<A>>(reducer: R, elements: &[A], index: usize) -> R::Partial {
    let mut partial = reducer.start();
    for (at, &element) in elements.iter().enumerate() {
        partial = reducer.meet(partial, element, index + at);
    }
    partial
}

/// The reduction of a short line.
#[inline(always)]
fn short<A: Copy, R: Reducer<A>>(reducer: R, elements: &[A], index: usize) -> R::Partial {
    if elements.len() < 2 * FEW {
        one_by_one(reducer, elements, index)
    } else if elements.len() < MANY {
        lanes::<A, R, FEW>(reducer, elements, index)
    } else {
        lanes::<A, R, LANES>(reducer, elements, index)
    }
}

/// The reduction of a long line by `N` partial results side by side, and what is left over of it. (Loops of a known length over the
/// partial results, and nothing else, are what the compiler keeps in vector registers.)
#[inline(always)]
fn long<A: Copy, R: Reducer<A>, const N: usize>(
    reducer: R,
    elements: &[A],
    index: usize,
) -> (Option<R::Partial>, &[A]) {
    let (chunks, rest) = elements.as_chunks::<N>();
    let (groups, others) = chunks.as_chunks::<GROUP>();
    let mut lanes = [reducer.start(); N];
    for (group, chunks) in groups.iter().enumerate() {
        for (lane, partial) in lanes.iter_mut().enumerate() {
            let mut met = *partial;
            for (chunk, elements) in chunks.iter().enumerate() {
                met = reducer.meet(met, elements[lane], index + (group * GROUP + chunk) * N + lane);
            }
            *partial = met;
        }
    }
    for (chunk, elements) in others.iter().enumerate() {
        for (lane, partial) in lanes.iter_mut().enumerate() {
            *partial = reducer.meet(*partial, elements[lane], index + (groups.len() * GROUP + chunk) * N + lane);
        }
    }
    (Some(halve(lanes, |one, other| reducer.merge(one, other))), rest)
}

/// The reduction of elements by `N` partial results side by side.
#[inline(always)]
pub(super) fn lanes<A: Copy, R: Reducer<A>, const N: usize>(reducer: R, elements: &[A], index: usize) -> R::Partial {
    let meet = |partial: R::Partial, element: &A, at: usize| reducer.meet(partial, *element, index + at);
    in_turn::<A, R::Partial, N>(elements, reducer.start(), meet, |one, other| reducer.merge(one, other))
}

/// Several lines of 64 elements or more at once by the partial results of [`lanes`].
#[inline(always)]
pub(crate) fn together<A: Copy, R: Reducer<A>, const M: usize>(reducer: R, lines: [&[A]; M]) -> [R::Partial; M] {
    let meet = |partial: R::Partial, element: &A, at: usize| reducer.meet(partial, *element, at);
    in_turns::<A, R::Partial, LANES, M>(lines, reducer.start(), meet, |one, other| reducer.merge(one, other))
}

/// Meets elements (and where they stand) in `N` partial results in turn, and merges them.
#[inline(always)]
pub(crate) fn in_turn<A, P: Copy, const N: usize>(
    elements: &[A],
    start: P,
    meet: impl Fn(P, &A, usize) -> P,
    merge: impl Fn(P, P) -> P,
) -> P {
    if const { size_of::<A>() == size_of::<P>() } {
        let [met] = in_turns::<A, P, N, 1>([elements], start, meet, merge);
        return met;
    }
    let mut lanes = [start; N];
    let (chunks, rest) = elements.as_chunks::<N>();
    for (chunk, elements) in chunks.iter().enumerate() {
        for (lane, partial) in lanes.iter_mut().enumerate() {
            *partial = meet(*partial, &elements[lane], chunk * N + lane);
        }
    }
    let first = chunks.len() * N;
    for (lane, (partial, element)) in lanes.iter_mut().zip(rest).enumerate() {
        *partial = meet(*partial, element, first + lane);
    }
    halve(lanes, merge)
}

/// The same for each of `M` lines, which are equally long, by partial results as large as elements: they stay in registers.
#[inline(always)]
fn in_turns<A, P: Copy, const N: usize, const M: usize>(
    lines: [&[A]; M],
    start: P,
    meet: impl Fn(P, &A, usize) -> P,
    merge: impl Fn(P, P) -> P,
) -> [P; M] {
    let lines = lines.map(|line| line.as_chunks::<N>());
    let mut partials = simd::meet_chunks(lines.map(|(chunks, _)| chunks), start, &meet);
    core::array::from_fn(|line| {
        let ((chunks, rest), lanes) = (lines[line], &mut partials[line]);
        let first = chunks.len() * N;
        for (lane, (partial, element)) in lanes.iter_mut().zip(rest).enumerate() {
            *partial = meet(*partial, element, first + lane);
        }
        halve(*lanes, &merge)
    })
}

/// The sum of `term` over elements side by side: in blocks, and several sums side by side within a block, so that it vectorises
/// and loses little.
#[inline(always)]
pub(crate) fn total<E, C: Compute>(elements: &[E], term: impl Fn(&E) -> C) -> C {
    let meet = |sum: C, x: &E, _: usize| sum.binary::<Accumulating>(term(x));
    let merge = |one: C, other: C| one.binary::<Accumulating>(other);
    let mut total = C::default();
    if elements.len() < 2 * FEW {
        for x in elements {
            total = meet(total, x, 0);
        }
    } else if elements.len() < MANY {
        total = in_turn::<E, C, FEW>(elements, total, meet, merge);
    } else {
        for block in elements.chunks(64 * MANY) {
            total = merge(total, in_turn::<E, C, LANES>(block, C::default(), meet, merge));
        }
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
        impl crate::ops::sealed::Op for $name {}
        impl Op for $name {
            const NAME: &'static str = stringify!($name);
        }
    )*};
}
pub(super) use op;
op!(sum prod mean var std min max amin amax argmin argmax any all);
op!(cumsum softmax log_softmax logsumexp matmul clamp imag where_ pad trace bernoulli multinomial view_as_real view_as_complex);
op!(layer_norm rms_norm normalize);
op!(nansum nanmean count_nonzero vector_norm norm aminmax var_mean std_mean);
op!(cumprod cummax cummin logcumsumexp diff trapezoid cumulative_trapezoid);
op!(int_mm mm mv bmm dot vdot vecdot inner outer linear addmm addmv addr addbmm baddbmm tensordot kron multi_dot);
op!(dist cdist cov corrcoef cross bincount histc);

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
    const WIDENS: bool = matches!(E::DTYPE, DType::F16);
    #[inline(always)]
    fn start(self) -> Self::Partial {
        Default::default()
    }
    #[inline(always)]
    fn meet(self, partial: Self::Partial, element: E, _: usize) -> Self::Partial {
        partial.binary::<Accumulating>(element.cast::<E::Sum>().to_compute())
    }
    #[inline(always)]
    fn meet_wide(self, partial: Self::Partial, element: f32) -> Self::Partial {
        partial.binary::<Accumulating>(element.cast())
    }
    const BY_SEVERAL: bool = true;
    #[inline(always)]
    fn several<const M: usize>(self, lines: [&[E]; M]) -> [Self::Partial; M] {
        together(self, lines)
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
    const WIDENS: bool = matches!(E::DTYPE, DType::F16);
    #[inline(always)]
    fn start(self) -> E::Compute {
        Default::default()
    }
    #[inline(always)]
    fn meet(self, partial: E::Compute, element: E, _: usize) -> E::Compute {
        partial.binary::<Accumulating>(element.to_compute())
    }
    #[inline(always)]
    fn meet_wide(self, partial: Self::Partial, element: f32) -> Self::Partial {
        partial.binary::<Accumulating>(element.cast())
    }
    const BY_SEVERAL: bool = true;
    #[inline(always)]
    fn several<const M: usize>(self, lines: [&[E]; M]) -> [Self::Partial; M] {
        together(self, lines)
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

/// The mean, met one after another.
#[cold]
#[inline(never)]
fn mean_met<E>(elements: &[E], value: impl Fn(&E) -> f64) -> f64 {
    elements.iter().zip(1_u64..).fold(0.0, |mean, (x, met)| mean + (value(x) - mean) / met as f64)
}

/// Infinite means of numbers that were summed, as PyTorch's, which meets them one after another: NaN where anything follows an infinity.
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

/// The variance, or its root.
#[derive(Clone, Copy)]
pub struct Varying {
    correction: f64,
    is_root: bool,
    single: bool,
}
impl Varying {
    /// The variance, where the mean has used up so many degrees of freedom (PyTorch's default is 1).
    pub const fn var(correction: f64) -> Self {
        Varying { correction, is_root: false, single: false }
    }
    /// Its root, the standard deviation.
    pub const fn std(correction: f64) -> Self {
        Varying { correction, is_root: true, single: false }
    }
}
impl<E: Dtype> Reducer<E> for Varying {
    type Partial = Moments;
    type Out = E::RealDtype;
    const BY_BLOCKS: bool = true;
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
    fn block(self, elements: &[E], _: usize) -> Moments {
        let count = elements.len() as f64;
        let parts = if E::DTYPE.is_complex() { 2 } else { 1 };
        let mut moments = Moments { count, ..Moments::default() };
        for part in 0..parts {
            let value = |x: &E| {
                let value: num_complex::Complex<f64> = x.cast();
                if part == 0 { value.re } else { value.im }
            };
            let mut mean = total(elements, value) / count;
            // The sum of doubles may be too large where their mean is not.
            if matches!(E::DTYPE, DType::F64 | DType::C128) && mean.is_infinite() {
                mean = mean_met(elements, value);
            }
            let deviation = |x: &E| {
                let deviation = value(x) - mean;
                deviation * deviation
            };
            (moments.mean[part], moments.squares[part]) = (mean, total(elements, deviation));
        }
        // (A branch between the two passes would cost the loops half of their speed.)
        let is_summed = !matches!(E::DTYPE, DType::F64 | DType::C128);
        if is_summed && moments.mean.iter().any(|mean| mean.is_infinite()) {
            moments.mean = means_after_infinities(elements, moments.mean);
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
        // Nothing has no variance, whatever the correction.
        let variance = if partial.count == 0.0 { f64::NAN } else { squares / freedom };
        Castable::from_f64(if self.is_root { variance.sqrt() } else { variance })
    }
    fn single(self) -> Self {
        Varying { single: true, ..self }
    }
}

/// The mean, which variances have found on the way.
impl<E: Dtype> TwoResults<E> for Varying {
    type Second = E;
    fn second(self, partial: Moments, count: usize) -> E {
        let [re, im] = if count > 0 { partial.mean } else { [f64::NAN; 2] };
        if E::DTYPE.is_complex() { Complex::new(re, im).cast() } else { re.cast() }
    }
}

/// Whether any element, or every element, is non-zero.
#[derive(Clone, Copy)]
pub struct Questioning {
    /// An element of this truth decides.
    decides: bool,
}
impl Questioning {
    /// Whether any element is non-zero.
    pub const ANY: Self = Questioning { decides: true };
    /// Whether every element is.
    pub const ALL: Self = Questioning { decides: false };
}
impl<E: Dtype> Reducer<E> for Questioning {
    /// Whether an element that decides has been met.
    type Partial = bool;
    type Out = bool;
    const COUNTS_REPEATS: bool = false;
    #[inline(always)]
    fn start(self) -> bool {
        false
    }
    #[inline(always)]
    fn meet(self, partial: bool, element: E, _: usize) -> bool {
        partial | (element.cast::<bool>() == self.decides)
    }
    #[inline(always)]
    fn merge(self, one: bool, other: bool) -> bool {
        one | other
    }
    #[inline(always)]
    fn finish(self, partial: bool, _: usize) -> bool {
        partial == self.decides
    }
}
