//! Compiles the text with a C++ compiler and compares every function and conversion with Rust, bit for bit.
//!
//! `cargo test --lib ops::record -- --ignored` runs it, with the compiler named by `CASTIRON_CXX`, else `c++`. Library functions, whose last
//! bits differ, are replayed from the evaluator's results, and checked to be called with the same arguments.

use super::cuda::{CudaCpp, PRELUDE, library};
use super::dialect::Dialect;
use super::evaluate::{Call, evaluate};
use super::graph::{Family, Function, Kind, Machine, Node};
use super::rows::{COMPUTING, all, suffix};
use super::tests::{Dice, arguments, edges, elementwise, functions, same, whole};
use crate::dtype::{Castable, Complex, DType, Dtype, Element, Special, bf16, f16};
use crate::ops::{self, UnaryOp};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

const MAIN: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static const ci_u64* ci_calls; static ci_u64 ci_left; static ci_u64 ci_wrong;
template<class T> static T ci_of(ci_u64 b) { T x; memcpy(&x, &b, sizeof x); return x; }
template<class T> static ci_u64 ci_bits(T x) { ci_u64 b = 0; memcpy(&b, &x, sizeof x); return b; }
template<class T> static void ci_is(T x) {
  if (!ci_left) { ci_wrong = 1; return; }
  const T y = ci_of<T>(*ci_calls++); ci_left--;
  if (ci_bits(x) != ci_bits(y) && !(x != x && y != y)) ci_wrong = 1;
}
template<class T> static T ci_answer() { if (!ci_left) { ci_wrong = 1; return 0; } ci_left--; return ci_of<T>(*ci_calls++); }
template<class T> static T ci_met(T x) { ci_is(x); return ci_answer<T>(); }
template<class T> static T ci_met(T x, T y) { ci_is(x); ci_is(y); return ci_answer<T>(); }
static ci_u64 ci_out[3];
template<class T> static void ci_put(T x) { ci_out[0] = ci_bits(x); }
template<class T> static void ci_put(ci_c<T> x) { ci_out[0] = ci_bits(x.re); ci_out[1] = ci_bits(x.im); }
"#;
const LOOP: &str = r#"
int main() {
  ci_u64 head[3];
  while (fread(head, 8, 3, stdin) == 3) { // which, how many arguments, how many words of calls
    ci_u64* w = (ci_u64*)malloc(8 * (head[1] + head[2] + 1));
    if (fread(w, 8, head[1] + head[2], stdin) != head[1] + head[2]) return 1;
    ci_calls = w + head[1]; ci_left = head[2]; ci_wrong = 0; ci_out[0] = ci_out[1] = 0;
    ci_run(head[0], w);
    ci_out[2] = ci_wrong || ci_left;
    fwrite(ci_out, 8, 3, stdout);
    free(w);
  }
}
"#;

/// A call and its expected result: a function, its arguments, the replayed calls; the results with their kinds.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) which: usize,
    pub(super) arguments: Vec<u64>,
    pub(super) calls: Vec<u64>,
    pub(super) expected: Vec<(u64, Kind)>,
    /// The relative tolerance for floats.
    pub(super) within: f64,
}

/// An element as words, and its type in C++.
pub(super) trait Words: Castable {
    const TEXT: &'static str;
    const READ: &'static str;
    fn of(words: &[u64]) -> Self;
    /// The bits; those of small floats as `f32`.
    fn words(self) -> Vec<(u64, Kind)>;
    fn samples() -> Vec<Vec<u64>>;
}
macro_rules! words {
    ($($ty:ty: $text:literal;)*) => {$(
        impl Words for $ty {
            const TEXT: &'static str = $text;
            const READ: &'static str = concat!("ci_of<", $text, ">(w[0])");
            fn of(words: &[u64]) -> $ty {
                <$ty>::of_bits(words[0])
            }
            fn words(self) -> Vec<(u64, Kind)> {
                vec![(self.bits(), <$ty>::KIND)]
            }
            fn samples() -> Vec<Vec<u64>> {
                // Around limits of integers, and ties of half precision.
                let near = [
                    127.5, 255.5, 32767.5, 65504.0, 65519.9, 65520.0, 2147483647.5, 2147483648.5, 9.3e18, 1.00048828125, 1.00390625,
                    6e-8, 2.9e-8,
                ];
                let both = near.into_iter().flat_map(|x: f64| [x, -x]);
                let more: Vec<u64> = match <$ty>::KIND {
                    Kind::F32 => both.map(|x| (x as f32).bits()).collect(),
                    Kind::F64 => both.map(f64::bits).collect(),
                    _ => Vec::new(),
                };
                let all = edges(<$ty>::KIND).into_iter().chain(more);
                all.map(|bits| vec![bits]).collect()
            }
        }
    )*};
    (small $($ty:ty: $text:literal;)*) => {$(
        impl Words for $ty {
            const TEXT: &'static str = $text;
            const READ: &'static str = concat!("(", $text, "{(unsigned short)w[0]})");
            fn of(words: &[u64]) -> $ty {
                <$ty>::from_bits(words[0] as u16)
            }
            fn words(self) -> Vec<(u64, Kind)> {
                vec![(self.to_bits().into(), Kind::I16)]
            }
            fn samples() -> Vec<Vec<u64>> {
                (0..=u16::MAX).step_by(7).chain([1, 0x8000, 0x7c00, 0xfc00, 0x7f80]).map(|bits| vec![bits.into()]).collect()
            }
        }
    )*};
    (complex $($part:ty: $text:literal, $read:literal;)*) => {$(
        impl Words for Complex<$part> {
            const TEXT: &'static str = $text;
            const READ: &'static str = $read;
            fn of(words: &[u64]) -> Self {
                Complex { re: <$part as Words>::of(words), im: <$part as Words>::of(&words[1..]) }
            }
            fn words(self) -> Vec<(u64, Kind)> {
                [self.re.words(), self.im.words()].concat()
            }
            fn samples() -> Vec<Vec<u64>> {
                let parts = <$part as Words>::samples();
                parts.iter().zip(parts.iter().rev()).map(|(re, im)| vec![re[0], im[0]]).collect()
            }
        }
    )*};
}
words! {
    bool: "bool"; u8: "ci_u8"; i8: "ci_i8"; i16: "ci_i16"; i32: "ci_i32"; i64: "ci_i64"; f32: "float"; f64: "double";
}
words! { small f16: "ci_f16"; bf16: "ci_bf16"; }
words! { complex
    f16: "ci_c<ci_f16>", "(ci_c<ci_f16>{{(unsigned short)w[0]}, {(unsigned short)w[1]}})";
    f32: "ci_c<float>", "(ci_c<float>{ci_of<float>(w[0]), ci_of<float>(w[1])})";
    f64: "ci_c<double>", "(ci_c<double>{ci_of<double>(w[0]), ci_of<double>(w[1])})";
}

fn conversion<A: Words, B: Words>(text: &mut String, cases: &mut Vec<Case>, which: &mut usize) {
    let _ = writeln!(text, "case {which}: ci_put(ci_cast<{}>({})); break;", B::TEXT, A::READ);
    for arguments in A::samples() {
        // NaN converted to an integer is machine-dependent; as a small float its payload is not compared.
        let (source, result) = (A::of(&arguments), A::of(&arguments).cast::<B>());
        let nan = source.cast::<Complex<f64>>().is_nan();
        if nan && matches!(B::DTYPE, DType::F16 | DType::BF16 | DType::C32) {
            continue;
        }
        let name = format!("{} to {}", suffix(A::DTYPE), suffix(B::DTYPE));
        cases.push(Case { name, which: *which, arguments, calls: vec![], expected: result.words(), within: 0.0 });
    }
    *which += 1;
}
macro_rules! conversions {
    ($text:ident $cases:ident $which:ident; $($from:ty),*) => { $(conversions! { @from $text $cases $which $from })* };
    (@from $text:ident $cases:ident $which:ident $from:ty) => {
        conversions! { @to $text $cases $which $from; bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f16>, Complex<f32>, Complex<f64> }
    };
    (@to $text:ident $cases:ident $which:ident $from:ty; $($to:ty),*) => {
        $(conversion::<$from, $to>(&mut $text, &mut $cases, &mut $which);)*
    };
}

/// The kernel of an operation, compared with the operation on elements.
fn kernel<Op: UnaryOp<E>, E: Words + Dtype>(
    source: &mut String,
    text: &mut String,
    cases: &mut Vec<Case>,
    which: &mut usize,
) where
    Op::Output: Words,
{
    let name = format!("ci_k_{}_{}", Op::NAME, suffix(E::DTYPE));
    let row = all().find(|row| row.name == Op::NAME).unwrap();
    let (written, result) = elementwise(row, &name, E::DTYPE).unwrap();
    assert_eq!(result, <Op::Output as Element>::DTYPE, "{name}");
    let _ = writeln!(source, "namespace of_{name} {{\n{written}}}");
    let (from, to) = (E::TEXT, <Op::Output as Words>::TEXT);
    let _ = writeln!(
        text,
        "case {which}: {{ const {from} x = {}; {to} out; of_{name}::{name}(&x, &out, 1); ci_put(out); break; }}",
        E::READ
    );
    for arguments in E::samples() {
        let expected = Op::apply(E::of(&arguments)).words();
        let value: Complex<f64> = E::of(&arguments).cast();
        if value.is_nan() && matches!(result, DType::F16 | DType::BF16 | DType::C32) {
            continue;
        }
        cases.push(Case { name: name.clone(), which: *which, arguments, calls: vec![], expected, within: 0.0 });
    }
    *which += 1;
}
macro_rules! kernels {
    ($source:ident $text:ident $cases:ident $which:ident; $($op:ident: $($ty:ty),*;)*) => {
        $($(kernel::<ops::$op, $ty>(&mut $source, &mut $text, &mut $cases, &mut $which);)*)*
    };
}

/// The library functions that a text calls: names, numbers of arguments, types.
pub(super) type Called = BTreeSet<(String, usize, &'static str)>;

/// Adds those that a function calls.
pub(super) fn note_calls(function: &Function, called: &mut Called) {
    for (one, node) in whole(function).iter().flat_map(|one| one.nodes.iter().map(move |node| (one, node))) {
        if let Node::Step(step, operands, kind) = node {
            let prefix = match step.family {
                Family::Operator | Family::Basic => continue,
                Family::Elementary => "ci_",
                Family::Platform => "ci_platform_",
                Family::Special => "ci_special_",
            };
            assert!(operands.iter().all(|&id| one.node(id).kind() == *kind));
            called.insert((format!("{prefix}{}", step.name), operands.len(), CudaCpp.number(*kind)));
        }
    }
}
/// The calls in the format that the program reads.
pub(super) fn as_words(calls: Vec<Call>) -> Vec<u64> {
    calls.into_iter().flat_map(|(operands, result)| operands.into_iter().chain([result])).collect()
}

/// Compiles the text with a dispatch function that has a `case` per number, and runs all cases.
pub(super) fn run(called: &Called, text: &str, switch: &str, cases: &[Case]) {
    let mut source = format!("#include <math.h>\n#include <string.h>\n#define CI_HOST\n{PRELUDE}\n{MAIN}");
    for (name, operands, ty) in called {
        let (parameters, given) =
            if *operands == 1 { (format!("{ty} x"), "x") } else { (format!("{ty} x, {ty} y"), "x, y") };
        let _ = writeln!(source, "CI_FN {ty} {name}({parameters}) {{ return ci_met({given}); }}");
    }
    source += text;
    let _ =
        write!(source, "static void ci_run(ci_u64 which, const ci_u64* w) {{ switch (which) {{\n{switch}}} }}\n{LOOP}");

    let folder = std::env::temp_dir().join(format!("castiron-text-{}-{}", std::process::id(), cases.len()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, program) = (folder.join("text.cpp"), folder.join("text"));
    std::fs::write(&file, source).unwrap();
    let compiler = std::env::var("CASTIRON_CXX").unwrap_or_else(|_| "c++".into());
    let flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-w", "-o"];
    assert!(Command::new(compiler).args(flags).arg(&program).arg(&file).status().unwrap().success());

    let mut child = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let words: Vec<u8> = cases
        .iter()
        .flat_map(|case| {
            let head = [case.which as u64, case.arguments.len() as u64, case.calls.len() as u64];
            head.into_iter().chain(case.arguments.iter().copied()).chain(case.calls.iter().copied())
        })
        .flat_map(u64::to_le_bytes)
        .collect();
    let writer = std::thread::spawn(move || input.write_all(&words).unwrap());
    let output = child.wait_with_output().unwrap().stdout;
    writer.join().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let answers: Vec<[u64; 3]> = output
        .as_chunks::<24>()
        .0
        .iter()
        .map(|bytes| core::array::from_fn(|at| u64::from_le_bytes(bytes[8 * at..][..8].try_into().unwrap())))
        .collect();
    assert_eq!(answers.len(), cases.len());
    for (case, answer) in cases.iter().zip(&answers) {
        let near = |(at, &(bits, kind)): (usize, &(u64, Kind))| {
            let (met, wanted) = (f64::from_bits(answer[at]), f64::from_bits(bits));
            same(answer[at], bits, kind) || (case.within > 0.0 && (met - wanted).abs() <= case.within * wanted.abs())
        };
        let agree = answer[2] == 0 && case.expected.iter().enumerate().all(near);
        assert!(agree, "{} of {:x?}: {answer:x?}, not {:x?}", case.name, case.arguments, case.expected);
    }
}

#[test]
#[ignore = "takes a C++ compiler, and half a minute"]
fn compiled_text_gives_the_same_bits() {
    let functions = functions();
    let (mut switch, mut cases, mut which, mut dice) = (String::new(), Vec::new(), 0, Dice::new());
    let mut called = Called::new();
    for (row, dtype, function) in &functions {
        note_calls(function, &mut called);
        let read: Vec<String> = function
            .arguments
            .iter()
            .enumerate()
            .map(|(at, kind)| format!("ci_of<{}>(w[{at}])", CudaCpp.number(*kind)))
            .collect();
        let _ = writeln!(switch, "case {which}: ci_put({}({})); break;", function.name, read.join(", "));
        for given in arguments(row, *dtype, function, &mut dice) {
            let mut met = Vec::new();
            let results = evaluate(function, &given, &mut met);
            let expected = results.into_iter().zip(function.results.iter().copied()).collect();
            let calls = as_words(met);
            cases.push(Case { name: function.name.clone(), which, arguments: given, calls, expected, within: 0.0 });
        }
        which += 1;
    }
    let of_functions = cases.len();
    conversions! { switch cases which;
    bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f16>, Complex<f32>, Complex<f64> }
    assert_eq!(which, functions.len() + COMPUTING.len().pow(2));
    let of_conversions = cases.len() - of_functions;
    let mut kernels = String::new();
    kernels! { kernels switch cases which;
        neg: u8, i16, i64, f16, bf16, f64, Complex<f16>;
        square: bool, i8, i32, f16, bf16, f32, Complex<f32>;
        sqrt: bool, u8, i32, f16, bf16, f64;
        reciprocal: i64, f16, bf16, f32;
        softsign: u8, i8, i64, f16, bf16, f64;
        floor: i32, f16, bf16, f32;
        isnan: i8, f16, bf16, Complex<f16>;
        sign: bool, i16, f16, f64;
    }
    let of_kernels = cases.len() - of_functions - of_conversions;
    // The prelude's hand-written loops, with the library's functions.
    let mut by_hand = |text: &str, arguments: &[f64], expected: f64| {
        let _ = writeln!(switch, "case {which}: ci_put({text}); break;");
        let expected = vec![(expected.to_bits(), Kind::F64)];
        let arguments = arguments.iter().map(|x| x.to_bits()).collect();
        cases.push(Case { name: text.into(), which, arguments, calls: vec![], expected, within: 1e-12 });
        which += 1;
    };
    for x in [0.0, -0.0, 0.3, 1.0, 9.5, 10.0, 50.0, 1e18, -0.4, -3.0, -7.3, f64::INFINITY, f64::NAN] {
        by_hand("ci_loop_digamma(ci_of<double>(w[0]))", &[x], x.digamma());
    }
    for (x, q) in [
        (2.0, 1.0),
        (1.0, 1.0),
        (0.5, 1.0),
        (3.5, 0.25),
        (3.0, -1.5),
        (3.5, -1.5),
        (2.0, -2.0),
        (30.0, 0.1),
        (1.1, 20.0),
    ] {
        by_hand("ci_loop_zeta(ci_of<double>(w[0]), ci_of<double>(w[1]))", &[x, q], x.zeta(q));
    }
    let ends = [0.0, 0.3, 1.0, f64::INFINITY, f64::NAN, -1.0];
    let inside = [
        (0.5, 0.2),
        (0.1, 0.9),
        (3.0, 1.05),
        (2.5, 7.0),
        (9.0, 2.0),
        (25.0, 24.0),
        (60.0, 75.0),
        (1e3, 1.1e3),
        (1e6, 999_900.0),
        (250.0, 600.0),
    ];
    for (a, x) in ends.into_iter().flat_map(|a| ends.map(|x| (a, x))).chain(inside) {
        by_hand("ci_loop_igamma(ci_of<double>(w[0]), ci_of<double>(w[1]))", &[a, x], a.igamma(x));
        by_hand("ci_loop_igammac(ci_of<double>(w[0]), ci_of<double>(w[1]))", &[a, x], a.igammac(x));
    }

    let text = library(functions.iter().map(|(.., function)| function)) + &kernels;
    run(&called, &text, &switch, &cases);
    println!(
        "{of_functions} arguments of {} functions, {of_conversions} conversions, {of_kernels} elements in kernels",
        functions.len()
    );
}
