//! Every row of the tables is recorded, and the recorded formula gives the same bits. Exceptions are listed here.

use super::cuda::{self, CudaCpp, PRELUDE, library};
use super::dialect;
use super::evaluate::evaluate;
use super::graph::{Family, Function, Kind, Node, Unreadable};
use super::kernel::{Kernel, Operand};
use super::number::Recorded;
use super::paths::record;
use super::plan::{Form, Layout};
use super::rows::{self, Row, computes_in};
use crate::dtype::numbers::MachineInexact;
use crate::dtype::{DType, MachineFloat};
use num_traits::{Float, ToPrimitive, Zero};
use std::collections::{BTreeMap, BTreeSet};

/// Rows whose formula cannot be recorded, by name and dtype (`None` for all), and why.
const UNREADABLE: &[(&str, Option<DType>, &str)] = &[];

/// Rows recorded as a call of a hand-written C++ function in the prelude, and why.
const LOOPS: &[(&str, &str)] = &[
    ("greatest_divisor", "Euclid's loop ends by the numbers"),
    ("power", "the loop over the bits of an integer exponent"),
    ("sum_of_lgammas", "as many terms as a parameter says"),
    ("sum_of_lgammas_f16", "the same, rounded"),
    ("sum_of_lgammas_bf16", "the same, rounded"),
    ("digamma", "the shift to 10 and the reflection"),
    ("zeta", "the sum ends by its terms"),
    ("igamma", "the same"),
    ("igammac", "the same"),
];

/// Limits of a function: bytes of its text, of one part, and branches.
const MOST_BYTES: usize = 8_000;
const MOST_PART_BYTES: usize = 50_000;
const MOST_DECISIONS: usize = 20;
const MOST_PART_DECISIONS: usize = 100;

/// Each row with each of its dtypes, without repeated functions.
fn all() -> Vec<(&'static Row, DType, Result<Function, Unreadable>)> {
    let mut names = BTreeSet::new();
    let mut all = Vec::new();
    for row in rows::all() {
        for dtype in row.dtypes() {
            let read = row.record(dtype);
            if read.as_ref().map_or(true, |function| names.insert(function.name.clone())) {
                all.push((row, dtype, read));
            }
        }
    }
    all
}
/// The recorded ones.
pub(super) fn functions() -> Vec<(&'static Row, DType, Function)> {
    all().into_iter().filter_map(|(row, dtype, read)| Some((row, dtype, read.ok()?))).collect()
}
/// A function and its parts.
pub(super) fn whole(function: &Function) -> Vec<&Function> {
    core::iter::once(function).chain(function.parts.values().map(|part| &**part)).collect()
}

#[test]
fn every_row_is_recorded() {
    let (mut rows, mut count, mut bytes) = (BTreeSet::new(), 0, 0);
    let mut parts = BTreeMap::new();
    for (row, dtype, read) in all() {
        let listed =
            UNREADABLE.iter().find(|(name, only, _)| *name == row.name && only.is_none_or(|only| only == dtype));
        rows.insert(row.name);
        match (read, listed) {
            (Err(why), None) => panic!("{} of {dtype} can't be recorded: {why}", row.name),
            (Ok(_), Some((.., why))) => panic!("{} of {dtype} can be recorded; it is listed as: {why}", row.name),
            (Err(_), Some(_)) => {}
            (Ok(function), None) => {
                let text = dialect::function(&CudaCpp, &function);
                assert!(text.len() <= MOST_BYTES, "{} has {} bytes", function.name, text.len());
                for one in whole(&function) {
                    let decisions = one.tree.decisions();
                    let most = if one.name == function.name { MOST_DECISIONS } else { MOST_PART_DECISIONS };
                    assert!(decisions <= most, "{} has {decisions} decisions", one.name);
                }
                (count, bytes) = (count + 1, bytes + text.len());
                parts.append(&mut dialect::parts(&CudaCpp, &function));
            }
        }
    }
    let of_parts: usize = parts.values().map(|[_, text]| text.len()).sum();
    println!("{} rows, {count} functions of {bytes} bytes, {} parts of {of_parts} bytes", rows.len(), parts.len());
    for (name, [_, text]) in &parts {
        assert!(text.len() <= MOST_PART_BYTES, "{name} has {} bytes", text.len());
    }
}

#[test]
fn what_the_text_calls_stands_in_the_prelude() {
    let mut loops = BTreeSet::new();
    let mut called = BTreeSet::new();
    for (.., function) in functions() {
        for node in whole(&function).iter().flat_map(|function| &function.nodes) {
            let Node::Step(step, ..) = node else { continue };
            if LOOPS.iter().any(|(name, _)| *name == step.name) {
                loops.insert(step.name);
            }
            let name = match step.family {
                Family::Operator => continue,
                Family::Basic | Family::Elementary => format!("ci_{}", step.name),
                Family::Platform => format!("ci_platform_{}", step.name),
                Family::Special => format!("ci_special_{}", step.name),
            };
            called.insert((name, step.name));
        }
    }
    for (name, plain) in &called {
        let word = |text: &str| !text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let found = PRELUDE.split(name.as_str()).skip(1).any(word);
        assert!(found || PRELUDE.contains(&format!("CI_MATH({plain})")), "the prelude lacks {name}");
    }
    assert_eq!(loops.len(), LOOPS.len(), "a loop is listed that no row has");
    println!("{} functions of the prelude are called", called.len());
}

#[test]
fn what_cannot_be_recorded_is_an_error() {
    let of = |formula: &dyn Fn(Recorded<f32>) -> Recorded<f32>| {
        record("f", &[Kind::F32], &[Kind::F32], &|| vec![formula(Recorded::argument(0)).id]).map(|_| ())
    };
    assert_eq!(of(&|x| x.abs()), Ok(()));
    assert_eq!(of(&|x| Recorded::lit(x.to_f64().unwrap_or(0.0))), Err(Unreadable::AsksForValue("to_f64")));
    let halved = |mut x: Recorded<f32>| {
        while x > Recorded::zero() {
            x = x - Recorded::lit(1.0);
        }
        x
    };
    let endless = of(&halved);
    assert_eq!(endless, Err(Unreadable::Decisions(64)));
    assert!(endless.unwrap_err().to_string().contains("a loop that ends by an argument"));
    assert_eq!(rows::unary::<crate::ops::sign>("f", DType::C64).map(|_| ()), Err(Unreadable::NotAdmitted));
    // Constants are known: a loop over them is unrolled.
    assert_eq!(of(&|x| x + halved(Recorded::lit(3.0))), Ok(()));
    // The enclosing recording continues.
    assert_eq!(
        of(&|x| {
            assert!(record("g", &[], &[], &|| vec![Recorded::<f32>::zero().id]).is_ok());
            x.sqrt()
        }),
        Ok(())
    );
}

#[test]
fn text_is_a_function_with_its_decisions() {
    let relu = rows::unary::<crate::ops::relu>("ci_f_relu_f32", DType::F32).unwrap();
    assert_eq!(
        library([&relu]),
        "CI_FN float ci_f_relu_f32(float a0) {\n  const bool v2 = a0 < 0.0f;\n  if (v2) {\n    return 0.0f;\n  }\n  return a0;\n}\n"
    );
    let isnan = rows::predicate::<crate::ops::isnan>("f", DType::C64).unwrap();
    assert_eq!(isnan.tree.decisions(), 0, "truth values are joined");
    let exp = rows::unary::<crate::ops::sigmoid>("f", DType::C64).unwrap();
    assert!(library([&exp]).contains("CI_PART ci_c<float> complex_exp_f32(float a0, float a1);\n"));
}

/// The kernel of a unary operation over contiguous elements of this dtype: its text and its result dtype.
pub(super) fn elementwise(row: &'static Row, name: &str, dtype: DType) -> Result<(String, DType), Unreadable> {
    let mut kernel = Kernel::written();
    let x = kernel.load(dtype, Operand::default());
    let result = kernel.apply_row(row, x);
    Ok((cuda::of_kernel(&kernel, name, result, Form { layout: Layout::Contiguous, in_place: false })?, result.dtype))
}

#[test]
fn names_of_rows_are_unique() {
    let mut names = BTreeSet::new();
    for row in rows::all() {
        assert!(names.insert((row.name, row.by_scalar)), "{} is the name of two rows", row.name);
    }
}

#[test]
fn kernels_compute_halves_in_single_precision() {
    let row = |name| rows::all().find(|row| row.name == name).unwrap();
    let (text, result) = elementwise(row("neg"), "ci_k_neg_bf16", DType::BF16).unwrap();
    assert_eq!(result, DType::BF16);
    assert_eq!(
        text,
        "CI_FN float ci_f_neg_f32(float a0) {\n  const float v1 = -(a0);\n  return v1;\n}\n\
         CI_FN ci_bf16 ci_k_neg_bf16_element(const ci_bf16 a0, const ci_i64 i) {\n  \
         const float x0 = ci_cast<float>(a0);\n  const float x1 = ci_f_neg_f32(x0);\n  \
         const ci_bf16 x2 = ci_cast<ci_bf16>(x1);\n  return x2;\n}\n\
         CI_KERNEL void ci_k_neg_bf16(const ci_bf16* __restrict__ p0, ci_bf16* __restrict__ out, const ci_u64 n) {\n  \
         CI_EACH(i, n) out[i] = ci_k_neg_bf16_element(p0[i], (ci_i64)(i));\n}\n"
    );
    // where(mask, x * s, y)
    let mut kernel = Kernel::written();
    let [mask, x, y] = [DType::Bool, DType::I32, DType::I32].map(|dtype| kernel.load(dtype, Operand::default()));
    let s = kernel.parameter(7);
    let product = kernel.row("mul", DType::I32, &[x, s]);
    let chosen = kernel.choose(mask, product, y);
    let text = cuda::of_kernel(&kernel, "k", chosen, Form { layout: Layout::Packs, in_place: true }).unwrap();
    assert!(
        text.contains(
            "(const bool* p0, const ci_i32* p1, const ci_i32* p2, const ci_i32 s0, ci_i32* out, const ci_u64 n)"
        ),
        "{text}"
    );
    assert!(text.contains("x0 = ci_f_mul_i32(a1, s0);\n  const ci_i32 x1 = a0 ? x0 : a2;\n"), "{text}");
    assert!(!text.contains('7'), "values are parameters: {text}");
    for (name, dtype, result) in [
        ("abs", DType::C32, DType::F16),
        ("square", DType::Bool, DType::I64),
        ("exp", DType::I16, DType::F32),
        ("isnan", DType::F16, DType::Bool),
        ("angle", DType::C128, DType::F64),
        ("softsign", DType::U8, DType::F32),
        ("tanhshrink", DType::C32, DType::C32),
    ] {
        assert_eq!(elementwise(row(name), "k", dtype).unwrap().1, result, "{name}");
    }
}

/// Pseudorandom numbers, the same in each run.
pub(super) struct Dice(u64);
impl Dice {
    pub(super) fn new() -> Dice {
        Dice(1)
    }
    pub(super) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 ^ self.0 >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd) >> 7
    }
}

pub(super) fn edges(kind: Kind) -> Vec<u64> {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -7.5,
        100.0,
        1e-20,
        -1e-40,
        5e-324,
        1e-310,
        1e30,
        -1e300,
        0.3,
        -0.7,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let integers = [
        0,
        1,
        -1,
        2,
        3,
        -7,
        8,
        31,
        63,
        64,
        127,
        -128,
        255,
        32_767,
        -32_768,
        46_341,
        i64::from(i32::MAX),
        i64::from(i32::MIN),
        i64::MAX,
        i64::MIN,
    ];
    match kind {
        Kind::Bool => vec![0, 1],
        Kind::F32 => floats.iter().map(|&x| (x as f32).to_bits().into()).collect(),
        Kind::F64 => floats.iter().map(|x| x.to_bits()).collect(),
        kind => integers.iter().map(|&x| cut(x as u64, kind)).collect(),
    }
}
fn cut(bits: u64, kind: Kind) -> u64 {
    match kind {
        Kind::Bool => bits & 1,
        Kind::U8 | Kind::I8 => bits & 0xff,
        Kind::I16 => bits & 0xffff,
        Kind::I32 | Kind::F32 => bits & 0xffff_ffff,
        Kind::I64 | Kind::F64 => bits,
    }
}
fn ordinary(kind: Kind, dice: &mut Dice) -> u64 {
    let real =
        |dice: &mut Dice| ((dice.roll() % 2_000_001) as f64 / 1e6 - 1.0) * [1.0, 3.0, 20.0][(dice.roll() % 3) as usize];
    match kind {
        Kind::F32 => (real(dice) as f32).to_bits().into(),
        Kind::F64 => real(dice).to_bits(),
        kind if dice.roll().is_multiple_of(2) => cut(dice.roll(), kind),
        kind => cut((dice.roll() % 41).wrapping_sub(20), kind),
    }
}

/// Arguments for a function: edge values (all pairs for two arguments), and ordinary values.
pub(super) fn arguments(row: &Row, dtype: DType, function: &Function, dice: &mut Dice) -> Vec<Vec<u64>> {
    let kinds = &function.arguments;
    let mut all: Vec<Vec<u64>> = match kinds.as_slice() {
        [only] => edges(*only).into_iter().map(|x| vec![x]).collect(),
        [a, b] => edges(*a).into_iter().flat_map(|x| edges(*b).into_iter().map(move |y| vec![x, y])).collect(),
        kinds => {
            let any = |kind: &Kind, dice: &mut Dice| {
                let edges = edges(*kind);
                edges[dice.roll() as usize % edges.len()]
            };
            (0..150).map(|_| kinds.iter().map(|kind| any(kind, dice)).collect()).collect()
        }
    };
    all.extend((0..100).map(|_| kinds.iter().map(|&kind| ordinary(kind, dice)).collect::<Vec<u64>>()));
    let number = |value: f64, bits: u64| if kinds[0] == Kind::F32 { (value as f32).to_bits().into() } else { bits };
    for given in &mut all {
        let whole = dice.roll() % 6 + 1;
        // Arguments that would loop endlessly, and are refused before the call.
        if row.name == "mvlgamma" {
            given[1] = number(whole as f64, (whole as f64).to_bits());
        }
        // Values of the dtype that a step rounds to.
        if matches!(dtype, DType::F16 | DType::BF16) && row.name == "nextafter" {
            for bits in given.iter_mut() {
                *bits = f32::from_bits(*bits as u32).rounded_to(dtype).to_bits().into();
            }
        }
    }
    all
}

/// Whether two bit patterns are the same number; all NaNs are equal.
pub(super) fn same(one: u64, other: u64, kind: Kind) -> bool {
    one == other
        || match kind {
            Kind::F32 => f32::from_bits(one as u32).is_nan() && f32::from_bits(other as u32).is_nan(),
            Kind::F64 => f64::from_bits(one).is_nan() && f64::from_bits(other).is_nan(),
            _ => false,
        }
}

#[test]
fn recorded_formulas_give_the_same_bits() {
    let (mut dice, mut values) = (Dice::new(), 0);
    for (row, dtype, function) in functions() {
        for given in arguments(row, dtype, &function, &mut dice) {
            let expected = (row.run)(&given, dtype);
            let met = evaluate(&function, &given, &mut Vec::new());
            values += met.len();
            let agree = met.iter().zip(&expected).zip(&function.results).all(|((&a, &b), &kind)| same(a, b, kind));
            assert!(
                agree && met.len() == expected.len(),
                "{} of {given:x?}: {met:x?}, not {expected:x?}; it computes in {}",
                function.name,
                computes_in(dtype)
            );
        }
    }
    println!("{values} values");
}
