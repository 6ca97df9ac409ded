//! Row functions and scans as text, for every dtype: evaluated and compiled, they give the host's results.
//!
//! Passes accumulate sequentially here, and in lanes on the host: rows of up to 15 elements, which the host accumulates sequentially too,
//! agree bit for bit.

use super::compiled::{Called, Case as Question, Words, as_words, note_calls, run};
use super::cuda;
use super::evaluate::{Call, evaluate};
use super::graph::{Function, Kind};
use super::lane::{RecordedLane, RecordedScan};
use super::row::RecordedRow;
use super::rows::run::Value;
use super::steps_cases::{edges, is_nan, ordinary};
use super::tests::Dice;
use crate::dtype::{Castable, Complex, DType, Dtype, Promotable, bf16, f16};
use crate::ops::kernel::{LaneKernel, RowKernel};
use crate::ops::reduce::{RootMeanSquare, Standardizing};
use crate::ops::scan::{RunningExtreme, RunningLogSumExp, RunningProduct, RunningSum, Softmax};
use std::fmt::Write as _;

/// Rows of edge values of a dtype, and of ordinary values.
fn rows<E: Words>(dice: &mut Dice) -> Vec<Vec<E>> {
    let mut rows = vec![ordinary(15, dice), ordinary(2, dice), ordinary(1, dice)];
    rows.extend(edges::<E>(24).into_iter().map(|x| [ordinary(3, dice), vec![x], ordinary(4, dice)].concat()));
    rows.extend(edges::<E>(24).into_iter().map(|x| vec![x; 2]));
    rows
}

fn find<'a>(functions: &'a [Function], name: &str) -> &'a Function {
    functions.iter().find(|function| function.name == name).unwrap()
}
fn bits<C: Value>(value: C) -> Vec<u64> {
    value.into_bits()
}

/// The program, and its cases.
#[derive(Default)]
struct Program {
    text: String,
    switch: String,
    called: Called,
    questions: Vec<Question>,
    which: usize,
    texts: usize,
}
impl Program {
    fn add(&mut self, library: &str, functions: &[Function], body: &str) {
        functions.iter().for_each(|function| note_calls(function, &mut self.called));
        self.which += 1;
        let which = self.which;
        let _ = writeln!(self.text, "namespace n{which} {{\n{library}}}");
        let _ = writeln!(self.switch, "case {which}: {{ using namespace n{which}; {body} break; }}");
        self.texts += 1;
    }
    /// Adds a case for the element at this position of the result; a 16-bit NaN has machine-dependent bits.
    fn ask<E: Words, O: Words>(
        &mut self,
        name: &str,
        at: usize,
        row: &[E],
        calls: &[Call],
        expected: (O, Option<i64>),
    ) {
        let (expected, position) = expected;
        if is_nan(expected) && matches!(O::DTYPE, DType::F16 | DType::BF16 | DType::C32) {
            return;
        }
        let words = row.iter().flat_map(|x| x.words()).map(|(bits, _)| bits);
        self.questions.push(Question {
            name: name.into(),
            which: self.which,
            arguments: [at as u64, row.len() as u64].into_iter().chain(words).collect(),
            calls: as_words(calls.to_vec()),
            expected: expected.words().into_iter().chain(position.map(|at| (at as u64, Kind::I64))).collect(),
            within: 0.0,
        });
    }
}

/// The element at this position of a row's result by its text, with the given shared rows.
fn row_by_text<E: Dtype<Compute: Value>>(
    text: &RecordedRow,
    value: Option<f64>,
    row: &[E],
    at: usize,
    shared: [Option<E>; 2],
    calls: &mut Vec<Call>,
) -> E {
    let number = |x: f64| bits(E::Compute::from_f64(x));
    let mut run =
        |name: String, arguments: &[&[u64]]| evaluate(find(&text.functions, &name), &arguments.concat(), calls);
    let mut given = [number(value.unwrap_or(0.0)), number(0.0), number(0.0)];
    type Run<'a> = &'a mut dyn FnMut(String, &[&[u64]]) -> Vec<u64>;
    let reduced = |run: Run<'_>, name: String, row: &[E], given: &[Vec<u64>; 3]| {
        let mut total = run(format!("{name}_start"), &[]);
        for &x in row {
            total = run(format!("{name}_accumulate"), &[&total, &bits(x.to_compute()), &given.concat()]);
        }
        run(format!("{name}_finish"), &[&total, &number(row.len() as f64), &given.concat()])
    };
    let mut row = row.to_vec();
    for is_large in [false, true] {
        for pass in 0..text.passes {
            given[1 + pass] = reduced(&mut run, format!("{}_pass{pass}", text.name), &row, &given);
        }
        let large = format!("{}_large", text.name);
        if is_large || !text.grows || run(format!("{large}_is_beyond"), &[&given.concat()]) == [0] {
            break;
        }
        let power = reduced(&mut run, large.clone(), &row, &given);
        for x in &mut row {
            let times = run(format!("{large}_times"), &[&bits(x.to_compute()), &power]);
            *x = E::from_compute(<E::Compute as Value>::of(&times));
        }
        given[0] = run(format!("{large}_beside"), &[&given[0], &power]);
    }
    let there = shared.map(|x| x.is_some());
    let name = format!("{}_at_{}{}", text.name, u8::from(there[0]), u8::from(there[1]));
    let others: Vec<u64> = shared.into_iter().flatten().flat_map(|x| bits(x.to_compute())).collect();
    let result = run(name, &[&bits(row[at].to_compute()), &others, &given.concat()]);
    E::from_compute(<E::Compute as Value>::of(&result))
}

fn check_row<E: Words + Dtype<Compute: Value>>(
    program: &mut Program,
    text: &RecordedRow,
    value: Option<f64>,
    host: impl Fn(&[E], usize, [Option<E>; 2]) -> E,
    has_shared: bool,
) {
    assert_eq!((text.element, text.given.len()), (E::DTYPE, 3 * bits(E::Compute::default()).len()));
    let (element, width, name) = (E::TEXT, E::default().words().len(), &text.name);
    let zero = text.given_bytes(&[]);
    assert_eq!(zero.len(), text.given.iter().map(|kind| kind.size()).sum::<usize>());
    let value_bytes = text.given_bytes(&value.into_iter().collect::<Vec<_>>());
    let bytes: Vec<String> = value_bytes.iter().map(u8::to_string).collect();
    let passes: String = (0..text.passes)
        .map(|pass| {
            format!(
                "{{ R::pass{pass}::partial p = R::pass{pass}::start(g); for (ci_i64 i = 0; i < n; i++) \
                 p = R::pass{pass}::accumulate(p, x[i], i, g); g = R::with{pass}(g, R::pass{pass}::finish(p, n, g)); }} "
            )
        })
        .collect();
    let last = if has_shared {
        "at == 0 ? R::at_00(x[at], g) : R::at_11(x[at], x[0], x[n - 1], g)"
    } else {
        "R::at_00(x[at], g)"
    };
    let again = if text.grows {
        format!(
            "if (R::is_beyond(g)) {{ R::large::partial p = R::large::start(g); for (ci_i64 i = 0; i < n; i++) p = R::large::accumulate(p, x[i], i, g); \
             const R::number power = R::large::finish(p, n, g); for (ci_i64 i = 0; i < n; i++) x[i] = R::times(x[i], power); \
             g = R::beside(values, power); {passes}}} "
        )
    } else {
        String::new()
    };
    let body = format!(
        "typedef {name} R; const ci_i64 at = (ci_i64)w[0], n = (ci_i64)w[1]; w += 2; static {element} x[64]; \
         for (ci_i64 i = 0; i < n; i++, w += {width}) x[i] = {}; \
         const ci_u8 bytes[] = {{{}}}; R::given g; static_assert(sizeof g == sizeof bytes, \"\"); memcpy(&g, bytes, sizeof g); \
         const R::given values = g; {passes}{again}ci_put({last});",
        E::READ,
        bytes.join(", "),
    );
    program.add(&cuda::row(text), &text.functions, &body);
    for row in rows::<E>(&mut Dice::new()) {
        for at in [0, row.len() - 1] {
            let shared = if has_shared && at > 0 { [Some(row[0]), Some(row[row.len() - 1])] } else { [None; 2] };
            let mut calls = Vec::new();
            let (found, expected) = (row_by_text(text, value, &row, at, shared, &mut calls), host(&row, at, shared));
            let agree = found.words() == expected.words() || (is_nan(found) && is_nan(expected));
            assert!(agree, "{name} of {row:?} at {at}: {found:?}, not {expected:?}");
            program.ask(name, at, &row, &calls, (expected, None));
            if has_shared {
                for shared in [[Some(row[0]), None], [None, Some(row[0])]] {
                    let (found, expected) =
                        (row_by_text(text, value, &row, at, shared, &mut Vec::new()), host(&row, at, shared));
                    let agree = found.words() == expected.words() || (is_nan(found) && is_nan(expected));
                    assert!(agree, "{name} of {row:?} with {shared:?}: {found:?}, not {expected:?}");
                }
            }
        }
    }
}
fn check_row_kernel<E: Words + Dtype<Compute: Value>, K: RowKernel<E, E>>(program: &mut Program, kernel: K) {
    let text = kernel.text().unwrap();
    let host = |row: &[E], at: usize, shared: [Option<E>; 2]| {
        let measure = kernel.measure(row);
        match kernel.of_large(measure, row) {
            Some((power, measure)) => kernel.element(measure, K::times(row[at], power), shared),
            None => kernel.element(measure, row[at], shared),
        }
    };
    check_row(program, &text, kernel.given().first().copied(), host, true);
}
fn check_softmax<E: Words + Dtype<Compute: Value>, K: LaneKernel<E, E>>(program: &mut Program, kernel: K) {
    let RecordedLane::Row(text) = kernel.text().unwrap() else { panic!("a function of a row") };
    let host = |row: &[E], at: usize, _: [Option<E>; 2]| {
        let mut to = vec![E::default(); row.len()];
        kernel.lane(row, &mut to, &mut kernel.scratch(row.len()).unwrap());
        to[at]
    };
    check_row(program, &text, None, host, false);
}

/// The last result of a lane by its text; also checks that segments may be merged in another order.
fn scan_by_text(text: &RecordedScan, numbers: &[Vec<u64>], calls: &mut Vec<Call>) -> Vec<u64> {
    let mut run = |name: &str, arguments: &[&[u64]]| {
        evaluate(find(&text.functions, &format!("{}_{name}", text.name)), &arguments.concat(), calls)
    };
    let mut running: Option<Vec<u64>> = if text.has_start { Some(run("start", &[])) } else { None };
    for (at, number) in numbers.iter().enumerate() {
        let element = run("of", &[number, &[at as u64]]);
        running = Some(match running {
            None => element,
            Some(earlier) => run("merge", &[&earlier, &element]),
        });
    }
    running.unwrap_or_default()
}

fn check_scan<E: Words + Dtype, O: Words, K: LaneKernel<E, P>, P: Copy>(
    program: &mut Program,
    kernel: K,
    number: fn(E) -> Vec<u64>,
    result: fn(&[u64]) -> O,
    parts: fn(P) -> (O, Option<i64>),
    blank: P,
) {
    let RecordedLane::Scan(text) = kernel.text().unwrap() else { panic!("a scan") };
    assert_eq!((text.element, text.out), (E::DTYPE, O::DTYPE), "{}", text.name);
    let (name, width) = (&text.name, E::default().words().len());
    let put = if text.has_positions {
        "ci_put(R::emit(p)); ci_out[1] = (ci_u64)R::second(p);"
    } else {
        "ci_put(R::emit(p));"
    };
    let first = if text.has_start { "R::start()" } else { "R::partial()" };
    let body = format!(
        "typedef {name} R; static_assert(sizeof(R::partial) == {}, \"\"); const ci_i64 n = (ci_i64)w[1]; w += 2; R::partial p = {first}; \
         for (ci_i64 i = 0; i < n; i++, w += {width}) {{ const R::partial x = R::of({}, i); \
         p = i || R::has_start ? R::merge(p, x) : x; }} {put}",
        text.partial_size(),
        E::READ
    );
    program.add(&cuda::scan(&text), &text.functions, &body);
    for row in rows::<E>(&mut Dice::new()) {
        let mut to = vec![blank; row.len()];
        kernel.lane(&row, &mut to, &mut kernel.scratch(row.len()).unwrap());
        let numbers: Vec<Vec<u64>> = row.iter().map(|&x| number(x)).collect();
        for end in 1..=row.len() {
            let mut calls = Vec::new();
            let partial = scan_by_text(&text, &numbers[..end], &mut calls);
            let (expected, position) = parts(to[end - 1]);
            let found = result(&partial);
            let agree = found.words() == expected.words() || (is_nan(found) && is_nan(expected));
            assert!(agree, "{name} of {:?}: {found:?}, not {expected:?}", &row[..end]);
            let last = *partial.last().unwrap() as i64;
            assert!(position.is_none_or(|at| at == last), "{name} of {:?}: at {last}, not {position:?}", &row[..end]);
            if end == row.len() {
                program.ask(name, 0, &row, &calls, (expected, position));
            }
        }
        if text.has_positions {
            // Two segments, split anywhere, give the whole.
            for at in 1..row.len() {
                let stretch = |from: usize, to: usize| {
                    let mut partials = (from..to).map(|i| {
                        evaluate(
                            find(&text.functions, &format!("{name}_of")),
                            &[&*numbers[i], &[i as u64]].concat(),
                            &mut Vec::new(),
                        )
                    });
                    let first = partials.next().unwrap();
                    partials.fold(first, |p, q| {
                        evaluate(find(&text.functions, &format!("{name}_merge")), &[p, q].concat(), &mut Vec::new())
                    })
                };
                let merged = [stretch(0, at), stretch(at, row.len())].concat();
                let merged = evaluate(find(&text.functions, &format!("{name}_merge")), &merged, &mut Vec::new());
                assert_eq!(merged.last(), stretch(0, row.len()).last(), "{name} of {row:?} in two parts at {at}");
            }
        }
    }
}

/// `over!(program, check::<E>(…) for f32 f64)`
macro_rules! over {
    ($E:ident in [$($ty:ty)*] $body:tt) => {$({
        type $E = $ty;
        $body
    })*};
}

fn every() -> Program {
    let mut program = Program::default();
    over!(E in [f16 bf16 f32 f64] {
        check_row_kernel::<E, _>(&mut program, Standardizing { eps: 1e-5 });
        check_softmax::<E, _>(&mut program, Softmax::<false>);
        check_softmax::<E, _>(&mut program, Softmax::<true>);
    });
    over!(E in [f16 bf16 f32 f64 Complex<f16> Complex<f32> Complex<f64>] {
        check_row_kernel::<E, _>(&mut program, RootMeanSquare { eps: 1e-6 });
    });
    /// The dtype that single precision accumulates in.
    macro_rules! scan {
        ($E:ident, $kernel:expr, $out:ty, $wide:ty) => {
            check_scan::<$E, $out, _, $out>(
                &mut program,
                $kernel,
                |x| bits(Castable::cast::<$wide>(x.cast::<$out>().to_compute())),
                |partial| <$wide as Value>::of(partial).cast(),
                |to| (to, None),
                Default::default(),
            )
        };
    }
    over!(E in [bool u8 i8 i16 i32 i64 f16 bf16 f64 Complex<f16> Complex<f64>] {
        scan!(E, RunningSum, <E as Promotable>::Sum, <<E as Promotable>::Sum as Dtype>::Compute);
        scan!(E, RunningProduct, <E as Promotable>::Sum, <<E as Promotable>::Sum as Dtype>::Compute);
    });
    over!(E in [f16 bf16 f64 Complex<f16> Complex<f64>] {
        scan!(E, RunningLogSumExp, E, <E as Dtype>::Compute);
    });
    over!(E in [f32] {
        scan!(E, RunningSum, E, f64);
        scan!(E, RunningProduct, E, f64);
        scan!(E, RunningLogSumExp, E, f64);
    });
    over!(E in [Complex<f32>] {
        scan!(E, RunningSum, E, Complex<f64>);
        scan!(E, RunningProduct, E, Complex<f64>);
        scan!(E, RunningLogSumExp, E, Complex<f64>);
    });
    macro_rules! extreme {
        ($E:ident, $max:literal) => {
            check_scan::<$E, $E, _, ($E, i64)>(
                &mut program,
                RunningExtreme::<$max>,
                |x| bits(x.to_compute()),
                |partial| E::from_compute(Value::of(partial)),
                |to| (to.0, Some(to.1)),
                Default::default(),
            )
        };
    }
    over!(E in [bool u8 i8 i16 i32 i64 f16 bf16 f32 f64] {
        extreme!(E, true);
        extreme!(E, false);
    });
    program
}

#[test]
fn every_row_and_every_scan_gives_the_same_bits() {
    let program = every();
    let most = program.text.split("namespace n").map(str::len).max();
    println!("{} texts of {} bytes, the longest of {most:?}", program.texts, program.text.len());
    assert!(most < Some(60_000));
}

#[test]
#[ignore = "takes a C++ compiler, and some seconds"]
fn compiled_rows_and_scans_give_the_same_bits() {
    let program = every();
    run(&program.called, &program.text, &program.switch, &program.questions);
    println!("{} rows and lanes by {} texts", program.questions.len(), program.texts);
}
