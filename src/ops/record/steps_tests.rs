//! Every reducer as text, for every dtype that it admits: evaluated and compiled, each step has the same bits as on the host.
//!
//! `steps_cases` lists them. `cargo test --lib ops::record -- --ignored` compiles them.

use super::compiled::{Called, Case as Question, as_words, note_calls, run};
use super::cuda::{self, CudaCpp};
use super::dialect::Dialect;
use super::evaluate::{Call, evaluate};
use super::graph::{Function, Kind};
use super::reduce::RecordedReducer;
use super::steps_cases::{Host, every};
use super::tests::{Dice, same};
use crate::dtype::{Castable, DType};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The steps of a text, evaluated on the host.
struct Steps<'a> {
    text: &'a RecordedReducer,
    given: Vec<u64>,
    calls: Vec<Call>,
}
impl<'a> Steps<'a> {
    fn new(text: &'a RecordedReducer, values: &[f64]) -> Self {
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

/// Compares each step with the host's.
struct Evaluating {
    names: BTreeSet<String>,
    bytes: usize,
    compared: usize,
}
impl Evaluating {
    fn compare(&mut self, host: &dyn Host, text: &RecordedReducer, met: &[u64], partial: usize, what: &str) {
        assert_same(met, &host.flat(partial), &text.partial, || format!("{what} of {}", text.name));
        self.compared += 1;
    }

    fn visit(&mut self, host: &mut dyn Host) {
        let text = host.text().unwrap_or_else(|why| panic!("{}: {why}", host.name()));
        let written = cuda::reducer(&text);
        assert_eq!([text.element, text.out], host.dtypes(), "{}", text.name);
        assert_eq!(text.second.is_some(), host.has_second(), "{}", text.name);
        assert!(written.len() < 60_000, "{} has {} bytes", text.name, written.len());
        let values = host.given();
        if values.is_empty() {
            assert!(self.names.insert(text.name.clone()), "{} twice", text.name);
        }
        self.bytes += written.len();
        let mut steps = Steps::new(&text, &values);

        let (start, met_start) = (host.start(), steps.start());
        self.compare(host, &text, &met_start, start, "start");
        if host.has_identity() {
            finish(host, &mut steps, &met_start, start, 0);
        }
        let edges = host.edges(if text.element.is_complex() { 14 } else { 22 });
        for &x in &edges {
            let (number, _) = host.element(x);
            let (p, met_p) = (host.accumulate(start, x, 0), steps.accumulate(&met_start, &number, 0));
            self.compare(host, &text, &met_p, p, "accumulate");
            finish(host, &mut steps, &met_p, p, 1);
            let merged = host.merge(p, start);
            self.compare(host, &text, &steps.merge(&met_p, &met_start), merged, "merge with the start");
            let merged = host.merge(start, p);
            self.compare(host, &text, &steps.merge(&met_start, &met_p), merged, "merge to the start");
            for &y in &edges {
                let (number, _) = host.element(y);
                let (both, met_both) = (host.accumulate(p, y, 1), steps.accumulate(&met_p, &number, 1));
                self.compare(host, &text, &met_both, both, "accumulate to one");
                finish(host, &mut steps, &met_both, both, 2);
                let (q, met_q) = (host.accumulate(start, y, 1), steps.accumulate(&met_start, &number, 1));
                let merged = host.merge(p, q);
                self.compare(host, &text, &steps.merge(&met_p, &met_q), merged, "merge");
                let merged = host.merge(q, p);
                self.compare(host, &text, &steps.merge(&met_q, &met_p), merged, "merge");
            }
        }
        let (mut p, mut met) = (start, met_start);
        for (index, x) in host.ordinary(60, &mut Dice::new()).into_iter().enumerate() {
            (p, met) = (host.accumulate(p, x, index), steps.accumulate(&met, &host.element(x).0, index));
            self.compare(host, &text, &met, p, "accumulate in a row");
        }
        finish(host, &mut steps, &met, p, 60);
    }
}

/// Compares the results of an accumulator.
fn finish(host: &dyn Host, steps: &mut Steps<'_>, met: &[u64], partial: usize, count: usize) {
    let name = &steps.text.name;
    let (found, expected) = (host.outcome(&steps.finish(met, count)), host.finish(partial, count));
    let agree = found.words == expected.words || (found.is_nan && expected.is_nan);
    assert!(agree, "finish of {count} elements by {name}: {found:?}, not {expected:?}");
    if !host.has_second() {
        return;
    }
    let (found, expected) = (host.second_of(&steps.run("second", &[met])), host.second(partial, count));
    // (Half precision comes as 16 bits.)
    let is_nan = |&(bits, kind): &(u64, Kind)| match kind {
        Kind::I16 => (bits & 0x7c00) == 0x7c00 || (bits & 0x7f80) == 0x7f80,
        Kind::F32 => f32::from_bits(bits as u32).is_nan(),
        Kind::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    };
    let agree = |(one, other): (&(u64, Kind), &(u64, Kind))| one == other || (is_nan(one) && is_nan(other));
    assert!(
        found.len() == expected.len() && found.iter().zip(&expected).all(agree),
        "second of {name}: {found:x?}, not {expected:x?}"
    );
}

#[test]
fn every_reducer_gives_the_same_bits() {
    let mut visitor = Evaluating { names: BTreeSet::new(), bytes: 0, compared: 0 };
    every(&mut |host| visitor.visit(host));
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
impl Compiling {
    fn visit(&mut self, host: &mut dyn Host) {
        let text = host.text().unwrap();
        let (values, name, which) = (host.given(), &text.name, self.which);
        text.functions.iter().for_each(|function| note_calls(function, &mut self.called));
        let _ = writeln!(self.text, "namespace n{which} {{\n{}}}", cuda::reducer(&text));
        let given: Vec<String> =
            text.given.iter().zip(&values).map(|(kind, x)| format!("({}){x:?}", CudaCpp.number(*kind))).collect();
        let bytes = super::reduce::given_bytes(&text.given, &values);
        assert_eq!(bytes.len(), text.given.iter().map(|kind| kind.size()).sum::<usize>());
        let (read, width) = host.reads();
        let _ = writeln!(
            self.switch,
            "case {which}: {{ typedef n{which}::{name} R; static_assert(sizeof(R::partial) == {}, \"\"); \
             const R::given g = {{{}}}; const ci_i64 n = (ci_i64)*w++; \
             R::partial p = R::start(g), q = p; \
             for (ci_i64 i = 0; i < n / 2; i++, w += {width}) p = R::accumulate(p, {read}, i, g); \
             for (ci_i64 i = n / 2; i < n; i++, w += {width}) q = R::accumulate(q, {read}, i, g); \
             ci_put(R::finish(R::merge(p, q, g), n, g)); break; }}",
            text.partial_size(),
            given.join(", "),
        );
        let mut dice = Dice::new();
        let edges = host.edges(20);
        let mut sequences = vec![host.ordinary(300, &mut dice), host.ordinary(7, &mut dice)];
        for x in edges {
            sequences.push([host.ordinary(3, &mut dice), vec![x], host.ordinary(4, &mut dice)].concat());
        }
        for elements in sequences {
            let mut steps = Steps::new(&text, &values);
            let mut halves = Vec::new();
            let (low, high) = elements.split_at(elements.len() / 2);
            for (first, half) in [(0, low), (low.len(), high)] {
                let (mut p, mut met) = (host.start(), steps.start());
                for (index, &x) in half.iter().enumerate() {
                    p = host.accumulate(p, x, first + index);
                    met = steps.accumulate(&met, &host.element(x).0, first + index);
                }
                halves.push((p, met));
            }
            let merged = steps.merge(&halves[0].1, &halves[1].1);
            let found = host.outcome(&steps.finish(&merged, elements.len()));
            let both = host.merge(halves[0].0, halves[1].0);
            let expected = host.finish(both, elements.len());
            assert!(found.words == expected.words || expected.is_nan, "{name}: {found:?}, not {expected:?}");
            // The bits of a 16-bit NaN are machine-dependent.
            if expected.is_nan && matches!(text.out, DType::F16 | DType::BF16 | DType::C32) {
                continue;
            }
            let words = elements.iter().flat_map(|&x| host.element(x).1);
            self.questions.push(Question {
                name: name.clone(),
                which,
                arguments: [elements.len() as u64].into_iter().chain(words).collect(),
                calls: as_words(steps.calls),
                expected: expected.words,
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
    every(&mut |host| program.visit(host));
    run(&program.called, &program.text, &program.switch, &program.questions);
    println!("{} reductions by {} texts of {} bytes", program.questions.len(), program.which, program.text.len());
}
