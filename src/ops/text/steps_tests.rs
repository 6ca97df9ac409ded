//! Every reducer as text, for every dtype that it admits: each step gives the bits of the host's, evaluated and compiled.
//!
//! `every` lists them; what visits it is given the reducer and how its numbers are read. `cargo test --lib ops::text -- --ignored`
//! compiles them.

use super::compiled::{Called, Case as Question, Words, as_words, note_calls, run};
use super::evaluate::{Call, evaluate};
use super::graph::{Function, Kind};
use super::reduce::ReducerText;
use super::rows::run::Value;
use super::tests::{Dice, same};
use crate::dtype::{Castable, Complex, DType, Dtype, Element, Promotable, bf16, f16};
use crate::ops::reduce::{
    AnyAll, ArgExtreme, CountNonzero, CountNumbers, Extreme, LogSumExp, Mean, MinMax, Moments, NanMean, NanSum, Prod,
    Reducer, Sum, TwoResults, Variance, VectorNorm,
};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// An accumulator of the host as the numbers of the text's.
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
/// Those of real numbers.
fn one_part(moments: Moments) -> Vec<u64> {
    [moments.count, moments.mean[0], moments.squares[0]].into_iter().flat_map(Flat::flat).collect()
}

type Seconds<P> = (fn(P, usize) -> Vec<(u64, Kind)>, fn(&[u64]) -> Vec<(u64, Kind)>);

/// A reducer of elements `E`, and how its numbers are read: elements and accumulators as numbers, numbers as results.
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
trait Visitor {
    fn visit<E: Words + Dtype, R: Reducer<E, Out: Words>>(&mut self, case: Case<E, R>);
}

/// `each!(visitor, E in [f32 f64] { reducer, what elements are converted to, flat, number of the result, and number of the second; })`
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
        $v.visit::<$E, _>(Case {
            reducer: $reducer,
            number: |x| x.cast::<$d>().to_compute().into_bits(),
            flat: $flat,
            out: |bits| <$w as Value>::of(bits).cast(),
            second: $second,
        })
    };
}

/// Every reducer with every dtype.
fn every(v: &mut impl Visitor) {
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

/// Elements at the edges of a dtype, about this many, and ordinary ones.
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

/// The steps of a text, run on the host.
struct Steps<'a> {
    text: &'a ReducerText,
    given: Vec<u64>,
    calls: Vec<Call>,
}
impl<'a> Steps<'a> {
    fn new(text: &'a ReducerText, values: &[f64]) -> Self {
        assert_eq!(text.given.len(), values.len(), "{}", text.name);
        let bits = |(kind, &value): (&Kind, &f64)| match kind {
            Kind::F32 => (value as f32).to_bits().into(),
            _ => value.to_bits(),
        };
        Steps { text, given: text.given.iter().zip(values).map(bits).collect(), calls: Vec::new() }
    }
    fn function(&self, step: &str) -> &'a Function {
        let name = format!("{}_{step}", self.text.name);
        self.text.functions.iter().find(|function| function.name == name).unwrap()
    }
    fn run(&mut self, step: &str, arguments: &[&[u64]]) -> Vec<u64> {
        evaluate(self.function(step), &arguments.concat(), &mut self.calls)
    }
    fn start(&mut self) -> Vec<u64> {
        self.run("start", &[])
    }
    fn accumulate(&mut self, partial: &[u64], number: &[u64], index: usize) -> Vec<u64> {
        let given = self.given.clone();
        self.run("accumulate", &[partial, number, &[index as u64], &given])
    }
    fn merge(&mut self, one: &[u64], other: &[u64]) -> Vec<u64> {
        self.run("merge", &[one, other])
    }
    fn finish(&mut self, partial: &[u64], count: usize) -> Vec<u64> {
        let counted = self.run("counted", &[partial, &[count as u64]])[0] as i64 as f64;
        let function = self.function("finish");
        let numbers = &function.arguments[partial.len()..function.arguments.len() - self.given.len()];
        let mut number = vec![match numbers[0] {
            Kind::F32 => (counted as f32).to_bits().into(),
            Kind::F64 => counted.to_bits(),
            Kind::Bool => (counted != 0.0).into(),
            Kind::U8 => u64::from(counted.cast::<u8>()),
            Kind::I8 => u64::from(counted.cast::<i8>() as u8),
            Kind::I16 => u64::from(counted.cast::<i16>() as u16),
            Kind::I32 => u64::from(counted.cast::<i32>() as u32),
            Kind::I64 => counted.cast::<i64>() as u64,
        }];
        number.resize(numbers.len(), 0);
        let given = self.given.clone();
        self.run("finish", &[partial, &number, &given])
    }
}

fn assert_same(one: &[u64], other: &[u64], kinds: &[Kind], what: impl FnOnce() -> String) {
    let agree = one.len() == other.len() && one.iter().zip(other).zip(kinds).all(|((&a, &b), &kind)| same(a, b, kind));
    assert!(agree, "{}: {one:x?}, not {other:x?}", what());
}
pub(super) fn is_nan<E: Castable>(x: E) -> bool {
    x.cast::<Complex<f64>>().is_nan()
}

/// Compares each step with the host's.
struct Evaluating {
    names: BTreeSet<String>,
    bytes: usize,
    compared: usize,
}
impl Visitor for Evaluating {
    fn visit<E: Words + Dtype, R: Reducer<E, Out: Words>>(&mut self, case: Case<E, R>) {
        let Case { reducer, number, flat, out, second } = case;
        let text = reducer.text().unwrap_or_else(|why| panic!("{}: {why}", core::any::type_name::<(E, R)>()));
        assert_eq!((text.element, text.out), (E::DTYPE, <R::Out as Element>::DTYPE), "{}", text.name);
        assert_eq!(text.second.is_some(), second.is_some(), "{}", text.name);
        assert!(text.library.len() < 60_000, "{} has {} bytes", text.name, text.library.len());
        if reducer.given().is_empty() {
            assert!(self.names.insert(text.name.clone()), "{} twice", text.name);
        }
        self.bytes += text.library.len();
        let values = reducer.given();
        let mut steps = Steps::new(&text, &values);
        let mut compare = |met: &[u64], partial: R::Partial, what: &str| {
            assert_same(met, &flat(partial), &text.partial, || format!("{what} of {}", text.name));
            self.compared += 1;
        };
        let finish = |steps: &mut Steps<'_>, met: &[u64], partial: R::Partial, count: usize| {
            let (found, expected) = (out(&steps.finish(met, count)), reducer.finish(partial, count));
            let agree = found.words() == expected.words() || (is_nan(found) && is_nan(expected));
            assert!(agree, "finish of {} elements by {}: {found:?}, not {expected:?}", count, text.name);
            if let Some((of_host, of_bits)) = second {
                let (found, expected) = (of_bits(&steps.run("second", &[met])), of_host(partial, count));
                // (Halves come as 16 bits.)
                let is_nan = |&(bits, kind): &(u64, Kind)| match kind {
                    Kind::I16 => (bits & 0x7c00) == 0x7c00 || (bits & 0x7f80) == 0x7f80,
                    Kind::F32 => f32::from_bits(bits as u32).is_nan(),
                    Kind::F64 => f64::from_bits(bits).is_nan(),
                    _ => false,
                };
                let agree = |(one, other): (&(u64, Kind), &(u64, Kind))| one == other || (is_nan(one) && is_nan(other));
                assert!(
                    found.len() == expected.len() && found.iter().zip(&expected).all(agree),
                    "second of {}: {found:x?}, not {expected:x?}",
                    text.name
                );
            }
        };

        let (start, met_start) = (reducer.start(), steps.start());
        compare(&met_start, start, "start");
        if reducer.has_identity() {
            finish(&mut steps, &met_start, start, 0);
        }
        let edges = edges::<E>(if E::DTYPE.is_complex() { 14 } else { 22 });
        for &x in &edges {
            let (p, met_p) = (reducer.accumulate(start, x, 0), steps.accumulate(&met_start, &number(x), 0));
            compare(&met_p, p, "accumulate");
            finish(&mut steps, &met_p, p, 1);
            compare(&steps.merge(&met_p, &met_start), reducer.merge(p, start), "merge with the start");
            compare(&steps.merge(&met_start, &met_p), reducer.merge(start, p), "merge to the start");
            for &y in &edges {
                let (both, met_both) = (reducer.accumulate(p, y, 1), steps.accumulate(&met_p, &number(y), 1));
                compare(&met_both, both, "accumulate to one");
                finish(&mut steps, &met_both, both, 2);
                let (q, met_q) = (reducer.accumulate(start, y, 1), steps.accumulate(&met_start, &number(y), 1));
                compare(&steps.merge(&met_p, &met_q), reducer.merge(p, q), "merge");
                compare(&steps.merge(&met_q, &met_p), reducer.merge(q, p), "merge");
            }
        }
        let (mut p, mut met) = (start, met_start);
        for (index, x) in ordinary::<E>(60, &mut Dice::new()).into_iter().enumerate() {
            (p, met) = (reducer.accumulate(p, x, index), steps.accumulate(&met, &number(x), index));
            compare(&met, p, "accumulate in a row");
        }
        finish(&mut steps, &met, p, 60);
    }
}

#[test]
fn every_reducer_gives_the_same_bits() {
    let mut visitor = Evaluating { names: BTreeSet::new(), bytes: 0, compared: 0 };
    every(&mut visitor);
    println!("{} texts, {} bytes, {} accumulators", visitor.names.len(), visitor.bytes, visitor.compared);
}

/// Writes a program that reduces sequences of elements.
#[derive(Default)]
struct Compiling {
    text: String,
    switch: String,
    called: Called,
    questions: Vec<Question>,
    which: usize,
}
impl Visitor for Compiling {
    fn visit<E: Words + Dtype, R: Reducer<E, Out: Words>>(&mut self, case: Case<E, R>) {
        let Case { reducer, number, out, .. } = case;
        let text = reducer.text().unwrap();
        let (values, name, which) = (reducer.given(), &text.name, self.which);
        text.functions.iter().for_each(|function| note_calls(function, &mut self.called));
        let _ = writeln!(self.text, "namespace n{which} {{\n{}}}", text.library);
        let given: Vec<String> =
            text.given.iter().zip(&values).map(|(kind, x)| format!("({}){x:?}", kind.c_type())).collect();
        let bytes = super::reduce::given_bytes(&text.given, &values);
        assert_eq!(bytes.len(), text.given.iter().map(|kind| kind.size()).sum::<usize>());
        let width = E::default().words().len();
        let _ = writeln!(
            self.switch,
            "case {which}: {{ typedef n{which}::{name} R; static_assert(sizeof(R::partial) == {}, \"\"); \
             const R::given g = {{{}}}; const ci_i64 n = (ci_i64)*w++; \
             R::partial p = R::start(g), q = p; \
             for (ci_i64 i = 0; i < n / 2; i++, w += {width}) p = R::accumulate(p, {}, i, g); \
             for (ci_i64 i = n / 2; i < n; i++, w += {width}) q = R::accumulate(q, {}, i, g); \
             ci_put(R::finish(R::merge(p, q, g), n, g)); break; }}",
            text.partial_size(),
            given.join(", "),
            E::READ,
            E::READ
        );
        let mut dice = Dice::new();
        let edges = edges::<E>(20);
        let mut sequences: Vec<Vec<E>> = vec![ordinary(300, &mut dice), ordinary(7, &mut dice)];
        sequences.extend(edges.iter().map(|&x| [ordinary(3, &mut dice), vec![x], ordinary(4, &mut dice)].concat()));
        for elements in sequences {
            let mut steps = Steps::new(&text, &values);
            let mut halves = Vec::new();
            let (low, high) = elements.split_at(elements.len() / 2);
            for (first, half) in [(0, low), (low.len(), high)] {
                let (mut p, mut met) = (reducer.start(), steps.start());
                for (index, &x) in half.iter().enumerate() {
                    p = reducer.accumulate(p, x, first + index);
                    met = steps.accumulate(&met, &number(x), first + index);
                }
                halves.push((p, met));
            }
            let merged = steps.merge(&halves[0].1, &halves[1].1);
            let found = out(&steps.finish(&merged, elements.len()));
            let expected = reducer.finish(reducer.merge(halves[0].0, halves[1].0), elements.len());
            assert!(found.words() == expected.words() || is_nan(expected), "{name}: {found:?}, not {expected:?}");
            // The bits of a NaN of 16 bits are the machine's.
            if is_nan(expected) && matches!(<R::Out as Element>::DTYPE, DType::F16 | DType::BF16 | DType::C32) {
                continue;
            }
            let words = elements.iter().flat_map(|x| x.words()).map(|(bits, _)| bits);
            self.questions.push(Question {
                name: name.clone(),
                which,
                arguments: [elements.len() as u64].into_iter().chain(words).collect(),
                calls: as_words(steps.calls),
                expected: expected.words(),
                within: 0.0,
            });
        }
        self.which += 1;
    }
}

#[test]
#[ignore = "takes a C++ compiler, and half a minute"]
fn compiled_reductions_give_the_same_bits() {
    let mut program = Compiling::default();
    every(&mut program);
    run(&program.called, &program.text, &program.switch, &program.questions);
    println!("{} reductions by {} texts of {} bytes", program.questions.len(), program.which, program.text.len());
}
