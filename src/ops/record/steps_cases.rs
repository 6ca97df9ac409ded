//! Every reducer with every dtype that it admits, and how its numbers are read.

use super::compiled::Words;
use super::graph::Kind;
use super::reduce::{Record, RecordedReducer};
use super::rows::run::Value;
use super::tests::Dice;
use crate::dtype::{Castable, Complex, DType, Dtype, Element, Promotable, bf16, f16};
use crate::ops::reduce::{
    AnyAll, ArgExtreme, CountNonzero, CountNumbers, Extreme, LogSumExp, Mean, MinMax, Moments, NanMean, NanSum, Prod,
    Reducer, Sum, TwoResults, Variance, VectorNorm,
};

/// The host's accumulator as the numbers of the text's accumulator.
trait Flat {
    fn flat(self) -> Vec<u64>;
}
impl<X: Value> Flat for X {
    fn flat(self) -> Vec<u64> {
        self.into_bits()
    }
}
impl Flat for usize {
    fn flat(self) -> Vec<u64> {
        vec![i64::try_from(self).unwrap_or(i64::MAX) as u64]
    }
}
impl<A: Flat, B: Flat> Flat for (A, B) {
    fn flat(self) -> Vec<u64> {
        [self.0.flat(), self.1.flat()].concat()
    }
}
impl<A: Flat, const N: usize> Flat for [A; N] {
    fn flat(self) -> Vec<u64> {
        self.into_iter().flat_map(Flat::flat).collect()
    }
}
impl<A: Flat + Default> Flat for Option<A> {
    fn flat(self) -> Vec<u64> {
        [vec![self.is_some().into()], self.unwrap_or_default().flat()].concat()
    }
}
impl Flat for Moments {
    fn flat(self) -> Vec<u64> {
        [vec![self.count], self.mean.to_vec(), self.squares.to_vec()]
            .concat()
            .into_iter()
            .flat_map(Flat::flat)
            .collect()
    }
}
/// The moments of real numbers.
fn one_part(moments: Moments) -> Vec<u64> {
    [moments.count, moments.mean[0], moments.squares[0]].into_iter().flat_map(Flat::flat).collect()
}

type Seconds<P> = (fn(P, usize) -> Vec<(u64, Kind)>, fn(&[u64]) -> Vec<(u64, Kind)>);

/// A reducer of elements `E`, and the conversions: elements and accumulators to numbers, numbers to results.
struct Case<E, R: Reducer<E>>
where
    E: Copy,
{
    reducer: R,
    number: fn(E) -> Vec<u64>,
    flat: fn(R::Partial) -> Vec<u64>,
    out: fn(&[u64]) -> R::Out,
    second: Option<Seconds<R::Partial>>,
}

/// A type-erased [`Case`], so that its visitors are compiled once. The host's elements and accumulators are identified by index.
pub(super) trait Host {
    fn name(&self) -> &'static str;
    fn text(&self) -> Record<RecordedReducer>;
    fn given(&self) -> Vec<f64>;
    fn has_identity(&self) -> bool;
    fn dtypes(&self) -> [DType; 2];
    /// How C++ reads an element, and its number of words.
    fn reads(&self) -> (&'static str, usize);
    /// Edge values of the dtype, about this many.
    fn edges(&mut self, most: usize) -> Vec<usize>;
    fn ordinary(&mut self, count: usize, dice: &mut Dice) -> Vec<usize>;
    /// The numbers of an element, and its words.
    fn element(&self, x: usize) -> (Vec<u64>, Vec<u64>);
    fn start(&mut self) -> usize;
    fn accumulate(&mut self, partial: usize, x: usize, index: usize) -> usize;
    fn merge(&mut self, one: usize, other: usize) -> usize;
    fn flat(&self, partial: usize) -> Vec<u64>;
    fn finish(&self, partial: usize, count: usize) -> Outcome;
    /// A result of the text.
    fn outcome(&self, bits: &[u64]) -> Outcome;
    fn has_second(&self) -> bool;
    fn second(&self, partial: usize, count: usize) -> Vec<(u64, Kind)>;
    fn second_of(&self, bits: &[u64]) -> Vec<(u64, Kind)>;
}

/// A result, as words.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) words: Vec<(u64, Kind)>,
    pub(super) is_nan: bool,
}
impl Outcome {
    fn of<E: Words>(x: E) -> Self {
        Outcome { words: x.words(), is_nan: is_nan(x) }
    }
}

/// A case, with its elements and accumulators so far.
struct Kept<E: Copy, R: Reducer<E>> {
    case: Case<E, R>,
    elements: Vec<E>,
    partials: Vec<R::Partial>,
}
impl<E: Copy, R: Reducer<E>> Kept<E, R> {
    fn keep(&mut self, partial: R::Partial) -> usize {
        self.partials.push(partial);
        self.partials.len() - 1
    }
    fn add(&mut self, elements: Vec<E>) -> Vec<usize> {
        let first = self.elements.len();
        self.elements.extend(elements);
        (first..self.elements.len()).collect()
    }
}
impl<E: Words + Dtype, R: Reducer<E, Out: Words>> Host for Kept<E, R> {
    fn name(&self) -> &'static str {
        core::any::type_name::<(E, R)>()
    }
    fn text(&self) -> Record<RecordedReducer> {
        self.case.reducer.text()
    }
    fn given(&self) -> Vec<f64> {
        self.case.reducer.given()
    }
    fn has_identity(&self) -> bool {
        self.case.reducer.has_identity()
    }
    fn dtypes(&self) -> [DType; 2] {
        [E::DTYPE, <R::Out as Element>::DTYPE]
    }
    fn reads(&self) -> (&'static str, usize) {
        (E::READ, E::default().words().len())
    }
    fn edges(&mut self, most: usize) -> Vec<usize> {
        self.add(edges(most))
    }
    fn ordinary(&mut self, count: usize, dice: &mut Dice) -> Vec<usize> {
        self.add(ordinary(count, dice))
    }
    fn element(&self, x: usize) -> (Vec<u64>, Vec<u64>) {
        let x = self.elements[x];
        ((self.case.number)(x), as_bits(&x.words()))
    }
    fn start(&mut self) -> usize {
        self.keep(self.case.reducer.start())
    }
    fn accumulate(&mut self, partial: usize, x: usize, index: usize) -> usize {
        self.keep(self.case.reducer.accumulate(self.partials[partial], self.elements[x], index))
    }
    fn merge(&mut self, one: usize, other: usize) -> usize {
        self.keep(self.case.reducer.merge(self.partials[one], self.partials[other]))
    }
    fn flat(&self, partial: usize) -> Vec<u64> {
        (self.case.flat)(self.partials[partial])
    }
    fn finish(&self, partial: usize, count: usize) -> Outcome {
        Outcome::of(self.case.reducer.finish(self.partials[partial], count))
    }
    fn outcome(&self, bits: &[u64]) -> Outcome {
        Outcome::of((self.case.out)(bits))
    }
    fn has_second(&self) -> bool {
        self.case.second.is_some()
    }
    fn second(&self, partial: usize, count: usize) -> Vec<(u64, Kind)> {
        (self.case.second.unwrap().0)(self.partials[partial], count)
    }
    fn second_of(&self, bits: &[u64]) -> Vec<(u64, Kind)> {
        (self.case.second.unwrap().1)(bits)
    }
}
fn as_bits(words: &[(u64, Kind)]) -> Vec<u64> {
    words.iter().map(|&(bits, _)| bits).collect()
}

/// `each!(visitor, E in [f32 f64] { reducer, the dtype of elements, flat, number of the result, and of the second result; })`
macro_rules! each {
    ($v:ident, $E:ident in [$($ty:ty)*] $rows:tt) => {$({
        type $E = $ty;
        each!(@rows $v $E $rows);
    })*};
    (@rows $v:ident $E:ident { $($reducer:expr, $d:ty, $flat:expr, $w:ty $(, and $second:ty)?;)* }) => {
        $(each!(@one $v $E $reducer, $d, $flat, $w, $($second)?);)*
    };
    (@one $v:ident $E:ident $reducer:expr, $d:ty, $flat:expr, $w:ty, ) => { each!(@visit $v $E $reducer, $d, $flat, $w, None) };
    (@one $v:ident $E:ident $reducer:expr, $d:ty, $flat:expr, $w:ty, $second:ty) => {
        each!(@visit $v $E $reducer, $d, $flat, $w, Some((
            |partial, count| TwoResults::<$E>::second($reducer, partial, count).words(),
            |bits| <$second as Value>::of(bits).cast::<$E>().words(),
        )))
    };
    (@visit $v:ident $E:ident $reducer:expr, $d:ty, $flat:expr, $w:ty, $second:expr) => {
        kept::<$E, _>(
            $v,
            Case {
                reducer: $reducer,
                number: |x| x.cast::<$d>().to_compute().into_bits(),
                flat: $flat,
                out: |bits| <$w as Value>::of(bits).cast(),
                second: $second,
            },
        )
    };
}

fn kept<E: Words + Dtype, R: Reducer<E, Out: Words> + 'static>(visit: &mut dyn FnMut(&mut dyn Host), case: Case<E, R>) {
    visit(&mut Kept { case, elements: Vec::new(), partials: Vec::new() });
}

/// Every reducer with every dtype.
pub(super) fn every(v: &mut dyn FnMut(&mut dyn Host)) {
    each!(v, E in [bool u8 i8 i16 i32 i64 f16 bf16 f32 f64 Complex<f16> Complex<f32> Complex<f64>] {
        Sum, <E as Promotable>::Sum, Flat::flat, <<E as Promotable>::Sum as Dtype>::Compute;
        Prod, <E as Promotable>::Sum, Flat::flat, <<E as Promotable>::Sum as Dtype>::Compute;
        AnyAll::ANY, E, Flat::flat, bool;
        AnyAll::ALL, E, Flat::flat, bool;
        CountNonzero, E, Flat::flat, i64;
        LogSumExp, <E as Promotable>::Inexact, Flat::flat, <<E as Promotable>::Inexact as Dtype>::Compute;
    });
    each!(v, E in [bool u8 i8 i16 i32 i64 f16 bf16 f32 f64] {
        Extreme::<E, true>::new(), E, Flat::flat, <E as Dtype>::Compute;
        Extreme::<E, false>::new(), E, Flat::flat, <E as Dtype>::Compute;
        ArgExtreme::<E, true>::new(), E, Flat::flat, i64, and <E as Dtype>::Compute;
        ArgExtreme::<E, false>::new(), E, Flat::flat, i64, and <E as Dtype>::Compute;
        MinMax::<E>::new(), E, Flat::flat, <E as Dtype>::Compute, and <E as Dtype>::Compute;
        NanSum, <E as Promotable>::Sum, Flat::flat, <<E as Promotable>::Sum as Dtype>::Compute;
    });
    each!(v, E in [f16 bf16 f32 f64] {
        CountNumbers, E, Flat::flat, i64;
        NanMean, E, Flat::flat, <E as Dtype>::Compute;
        Variance::var(1.0), f64, one_part, f64, and f64;
        Variance::std(0.5), f64, one_part, f64, and f64;
        Reducer::<E>::single(Variance::var(0.0)), f64, one_part, f64, and f64;
        Reducer::<E>::single(Variance::std(1.0)), f64, one_part, f64, and f64;
    });
    each!(v, E in [Complex<f16> Complex<f32> Complex<f64>] {
        Variance::var(1.0), Complex<f64>, Flat::flat, f64, and Complex<f64>;
        Variance::std(0.0), Complex<f64>, Flat::flat, f64, and Complex<f64>;
    });
    each!(v, E in [f16 bf16 f32 f64 Complex<f16> Complex<f32> Complex<f64>] {
        Mean, E, Flat::flat, <E as Dtype>::Compute;
        VectorNorm::new(0.0), E, Flat::flat, RealOf<E>;
        VectorNorm::new(1.0), E, Flat::flat, RealOf<E>;
        VectorNorm::new(2.0), E, Flat::flat, RealOf<E>;
        VectorNorm::new(2.5), E, Flat::flat, RealOf<E>;
        VectorNorm::new(-1.5), E, Flat::flat, RealOf<E>;
        VectorNorm::new(f64::INFINITY), E, Flat::flat, RealOf<E>;
        VectorNorm::new(f64::NEG_INFINITY), E, Flat::flat, RealOf<E>;
        VectorNorm::of_difference(0.0), E, Flat::flat, RealOf<E>;
        VectorNorm::of_difference(f64::INFINITY), E, Flat::flat, RealOf<E>;
    });
}
type RealOf<E> = <<E as Dtype>::Compute as crate::dtype::Compute>::Real;

/// Edge values of a dtype, about this many, and ordinary values.
pub(super) fn edges<E: Words>(most: usize) -> Vec<E> {
    let all = E::samples();
    let by = all.len().div_ceil(most);
    let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    all.iter().step_by(by).map(|words| E::of(words)).chain(special.map(E::from_f64)).collect()
}
pub(super) fn ordinary<E: Words>(count: usize, dice: &mut Dice) -> Vec<E> {
    (0..count)
        .map(|_| {
            let mut part = || (dice.roll() % 2_000_001) as f64 / 1e5 - 10.0;
            E::from_c128(Complex::new(part(), part()))
        })
        .collect()
}

pub(super) fn is_nan<E: Castable>(x: E) -> bool {
    x.cast::<Complex<f64>>().is_nan()
}
