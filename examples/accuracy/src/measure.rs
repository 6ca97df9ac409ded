//! The functions with the errors they promise, and how errors are measured: against tables of exact values, and `f32` against `f64`.
//!
//! The example writes the measured errors; a test of `tests/suite` checks them against the promises.

use castiron::{Complex, Dyn, Tensor};
use serde_json::Value;
use std::io::Read as _;
use std::sync::OnceLock;

/// The unit in which errors are measured.
#[derive(Clone, Copy)]
pub enum Scale {
    /// Units in the last place of the result.
    Result,
    /// As `Result`, but at least the unit of 1.
    One,
    /// As `One`, for a function that follows PyTorch's approximation: `f32` has an approximation of its own, which is not compared with
    /// `f64`.
    PyTorch,
}

/// A function and the largest errors it promises.
pub struct Row {
    pub name: &'static str,
    pub scale: Scale,
    pub single: f64,
    pub double: f64,
    of_one: Option<(fn(Vec<f32>) -> Vec<f32>, fn(Vec<f64>) -> Vec<f64>)>,
    of_two: Option<(fn([Vec<f32>; 2]) -> Vec<f32>, fn([Vec<f64>; 2]) -> Vec<f64>)>,
}

/// The largest error found, in ulp, and its arguments.
#[derive(Default)]
pub struct Error {
    pub ulps: f64,
    pub at: Vec<f64>,
}
impl Error {
    /// Whether the promise is kept; NaN never keeps it.
    pub fn is_within(&self, bound: f64) -> bool {
        self.ulps <= bound
    }
    fn meet(&mut self, ulps: f64, at: &[f64]) {
        if ulps > self.ulps || ulps.is_nan() {
            *self = Error { ulps, at: at.to_vec() };
        }
    }
}

/// For `exp Result 2 2;` writes the row of `Tensor::exp`, which promises 2 ulp for `f32` and for `f64`.
macro_rules! rows {
    (one { $($one:ident $scale:ident $single:literal $double:literal;)* }
     two { $($two:ident $scale2:ident $single2:literal $double2:literal;)* }) => {
        pub const ROWS: &[Row] = &[
            $(Row {
                name: stringify!($one),
                scale: Scale::$scale,
                single: $single as f64,
                double: $double as f64,
                of_one: Some((
                    |x| Tensor::<f32, (Dyn,)>::from(x).$one().to_vec(),
                    |x| Tensor::<f64, (Dyn,)>::from(x).$one().to_vec(),
                )),
                of_two: None,
            },)*
            $(Row {
                name: stringify!($two),
                scale: Scale::$scale2,
                single: $single2 as f64,
                double: $double2 as f64,
                of_one: None,
                of_two: Some((
                    |[a, b]| Tensor::<f32, (Dyn,)>::from(a).$two(&Tensor::<f32, (Dyn,)>::from(b)).to_vec(),
                    |[a, b]| Tensor::<f64, (Dyn,)>::from(a).$two(&Tensor::<f64, (Dyn,)>::from(b)).to_vec(),
                )),
            },)*
        ];
    };
}
rows! {
    one {
        exp Result 2 2;
        exp2 Result 2 2;
        expm1 Result 2 2;
        log Result 2 2;
        log2 Result 2 2;
        log10 Result 2 2;
        log1p Result 2 2;
        sin Result 2 2;
        cos Result 2 2;
        tan Result 2 2;
        sinh Result 2 2;
        cosh Result 2 2;
        tanh Result 2 2;
        asin Result 2 2;
        acos Result 2 2;
        atan Result 2 2;
        asinh Result 2 2;
        acosh Result 2 2;
        atanh Result 2 2;
        erf Result 2 2;
        erfc Result 2 2;
        erfcx Result 3 2;
        erfinv Result 2 3;
        entr Result 2 2;
        ndtr One 2 2;
        ndtri Result 1 4;
        log_ndtr One 4 4;
        lgamma One 1 4;
        digamma One 1 16;
        i0 Result 1 4;
        i0e Result 1 4;
        i1 Result 1 4;
        i1e Result 1 4;
        modified_bessel_k0 Result 1 4;
        modified_bessel_k1 Result 1 4;
        scaled_modified_bessel_k0 Result 1 4;
        scaled_modified_bessel_k1 Result 1 4;
        spherical_bessel_j0 One 1 2;
        bessel_j0 PyTorch 4000 1e10;
        bessel_j1 PyTorch 4000 1e10;
        bessel_y0 PyTorch 4000 1e10;
        bessel_y1 PyTorch 4000 1e10;
        airy_ai PyTorch 1000 1e12;
    }
    two {
        pow Result 2 2;
        atan2 Result 2 2;
        hypot Result 1 2;
        xlogy Result 2 2;
        xlog1py Result 2 2;
        logaddexp One 3 3;
        logaddexp2 One 3 3;
        zeta Result 1 8;
        igamma PyTorch 1 1e7;
        igammac PyTorch 1 1e7;
    }
}

/// A function of complex numbers, and the largest errors it promises: of each part, in units in the last place of the larger part.
pub struct ComplexRow {
    pub name: &'static str,
    pub single: f64,
    pub double: f64,
    operands: usize,
    run: (RunComplex<f32>, RunComplex<f64>),
}
/// A function of one operand or of two.
type RunComplex<F> = fn([Vec<Complex<F>>; 2]) -> Vec<Complex<F>>;

/// For `exp 3 3;` writes the row of `Tensor::exp` of complex numbers, which promises 3 ulp for both dtypes.
macro_rules! complex_rows {
    (one { $($one:ident $single:literal $double:literal;)* } two { $($two:ident $single2:literal $double2:literal;)* }) => {
        pub const COMPLEX_ROWS: &[ComplexRow] = &[
            $(ComplexRow {
                name: stringify!($one),
                single: $single as f64,
                double: $double as f64,
                operands: 1,
                run: (
                    |[x, _]| Tensor::<Complex<f32>, (Dyn,)>::from(x).$one().to_vec(),
                    |[x, _]| Tensor::<Complex<f64>, (Dyn,)>::from(x).$one().to_vec(),
                ),
            },)*
            $(ComplexRow {
                name: stringify!($two),
                single: $single2 as f64,
                double: $double2 as f64,
                operands: 2,
                run: (
                    |[a, b]| Tensor::<Complex<f32>, (Dyn,)>::from(a).$two(&Tensor::<Complex<f32>, (Dyn,)>::from(b)).to_vec(),
                    |[a, b]| Tensor::<Complex<f64>, (Dyn,)>::from(a).$two(&Tensor::<Complex<f64>, (Dyn,)>::from(b)).to_vec(),
                ),
            },)*
        ];
    };
}
complex_rows! {
    one {
        exp 3 3;
        exp2 1e8 1e17;
        expm1 3 3;
        log 3 3;
        log2 3 3;
        log10 3 3;
        log1p 3 3;
        sqrt 3 3;
        rsqrt 3 3;
        sin 3 3;
        cos 3 3;
        tan 3 3;
        sinh 3 3;
        cosh 3 3;
        tanh 3 3;
        asin 3 3;
        acos 3 3;
        atan 3 3;
        asinh 3 3;
        acosh 3 3;
        atanh 3 3;
    }
    two {
        pow 300 2000;
    }
}

/// The tables of exact values.
fn tables() -> &'static [Value; 3] {
    static TABLES: OnceLock<[Value; 3]> = OnceLock::new();
    TABLES.get_or_init(|| {
        let files: [&[u8]; 3] = [
            include_bytes!("../../../tests/oracle/functions.json.gz"),
            include_bytes!("../../../tests/oracle/special.json.gz"),
            include_bytes!("../../../tests/oracle/complex.json.gz"),
        ];
        files.map(|file| {
            let mut text = String::new();
            flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("a gzipped table");
            serde_json::from_str(&text).expect("a table")
        })
    })
}

/// The exact values of a function: arguments, the rounded result, and by how many ulp the exact result is larger.
fn exact(name: &str, dtype: &str, arguments: usize) -> Vec<(Vec<u64>, u64, f64)> {
    let nan = if dtype == "f32" { f32::NAN.to_bits().into() } else { f64::NAN.to_bits() };
    let bits = |text: &str| if text == "nan" { nan } else { u64::from_str_radix(text, 16).expect("bits") };
    let rows = tables().iter().find_map(|table| table[dtype][name].as_str());
    let words: Vec<&str> = rows.unwrap_or_else(|| panic!("the tables lack {name}")).split(' ').collect();
    let row = |row: &[&str]| {
        let given = row[..arguments].iter().map(|text| bits(text)).collect();
        (given, bits(row[arguments]), row[arguments + 1].parse::<f64>().expect("thousandths") / 1000.0)
    };
    words.chunks(arguments + 2).map(row).collect()
}

/// The unit in the last place of a number with `digits` binary digits; the smallest unit is 2 to the power of `smallest`.
fn unit(value: f64, digits: i32, smallest: i32) -> f64 {
    let exponent = if value == 0.0 { smallest } else { exponent_of(value) - digits + 1 };
    power_of_two(exponent.max(smallest))
}
/// The exponent of a number as a power of two.
fn exponent_of(value: f64) -> i32 {
    let bits = value.abs().to_bits();
    if bits >> 52 == 0 { 63 - bits.leading_zeros() as i32 - 1074 } else { (bits >> 52) as i32 - 1023 }
}
fn power_of_two(exponent: i32) -> f64 {
    if exponent < -1022 {
        f64::from_bits(1 << (exponent + 1074))
    } else {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    }
}

/// The error of `got` in ulp, where the exact value is `rest` ulp above `want`.
fn off(got: f64, want: f64, rest: f64, scale: Scale, [digits, smallest]: [i32; 2]) -> f64 {
    let unit_of = |x| unit(x, digits, smallest);
    if want.is_nan() || want.is_infinite() || got.is_nan() {
        // A sum close to the largest number may round to infinity.
        return if got == want || (got.is_nan() && want.is_nan()) { 0.0 } else { f64::INFINITY };
    }
    if got.is_infinite() {
        // `i0` and `i1` overflow where `exp` does, as in PyTorch.
        let largest = if digits == SINGLE[0] { f32::MAX.into() } else { f64::MAX };
        return if want.abs() > largest / 64.0 && got.is_sign_negative() == want.is_sign_negative() {
            0.0
        } else {
            got.abs()
        };
    }
    // In units of the result first, then in the units asked for: neither the difference nor the quotient loses precision that matters.
    let ulps = ((got - want) / unit_of(want) - rest).abs();
    match scale {
        Scale::Result => ulps,
        Scale::One | Scale::PyTorch => ulps * (unit_of(want) / unit_of(want.abs().max(1.0))),
    }
}

const SINGLE: [i32; 2] = [24, -149];
const DOUBLE: [i32; 2] = [53, -1074];

/// The largest error for `f64`.
pub fn double(row: &Row) -> Error {
    let mut error = Error::default();
    let table = exact(row.name, "f64", if row.of_one.is_some() { 1 } else { 2 });
    let column = |at: usize| table.iter().map(|(given, ..)| f64::from_bits(given[at])).collect::<Vec<f64>>();
    let results = match (row.of_one, row.of_two) {
        (Some((_, f)), _) => f(column(0)),
        (_, Some((_, f))) => f([column(0), column(1)]),
        _ => Vec::new(),
    };
    for ((given, want, rest), got) in table.iter().zip(results) {
        let given: Vec<f64> = given.iter().map(|&bits| f64::from_bits(bits)).collect();
        error.meet(off(got, f64::from_bits(*want), *rest, row.scale, DOUBLE), &given);
    }
    error
}

/// The largest error for `f32`. `step` is the step through its bits: a prime meets all exponents and signs, with ever other digits.
pub fn single(row: &Row, step: usize) -> Error {
    let number = |bits: u64| f32::from_bits(bits as u32);
    let mut error = Error::default();
    let table = exact(row.name, "f32", if row.of_one.is_some() { 1 } else { 2 });
    let column = |at: usize| table.iter().map(|(given, ..)| number(given[at])).collect::<Vec<f32>>();
    let results = match (row.of_one, row.of_two) {
        (Some((f, _)), _) => f(column(0)),
        (_, Some((f, _))) => f([column(0), column(1)]),
        _ => Vec::new(),
    };
    for ((given, want, rest), got) in table.iter().zip(results) {
        let given: Vec<f64> = given.iter().map(|&bits| number(bits).into()).collect();
        error.meet(off(got.into(), number(*want).into(), *rest, row.scale, SINGLE), &given);
    }
    if let (Some((f, g)), Scale::Result | Scale::One) = (row.of_one, row.scale) {
        let all: Vec<f32> = (0..=u32::MAX).step_by(step).map(f32::from_bits).collect();
        let wide = g(all.iter().map(|&x| x.into()).collect());
        for ((x, got), exact) in all.iter().zip(f(all.clone())).zip(wide) {
            let want = exact as f32;
            let rest = if want.is_finite() && exact.is_finite() {
                (exact - f64::from(want)) / unit(want.into(), SINGLE[0], SINGLE[1])
            } else {
                0.0
            };
            error.meet(off(got.into(), want.into(), rest, row.scale, SINGLE), &[(*x).into()]);
        }
    }
    error
}

/// The largest errors of a function of complex numbers for one dtype: in units of each part, and in units of the larger part.
#[derive(Default)]
pub struct ComplexError {
    pub of_part: Error,
    pub of_larger: Error,
}

/// The errors for `complex64` and for `complex128`.
pub fn complex(row: &ComplexRow) -> [ComplexError; 2] {
    let single = |bits: u64| f32::from_bits(bits as u32);
    [
        complex_of(
            row,
            "c64",
            SINGLE,
            |bits| single(bits).into(),
            |operands| {
                let narrow = |z: &Complex<f64>| Complex::new(z.re as f32, z.im as f32);
                let results = row.run.0(operands.map(|list| list.iter().map(narrow).collect()));
                results.iter().map(|z| Complex::new(z.re.into(), z.im.into())).collect()
            },
        ),
        complex_of(row, "c128", DOUBLE, f64::from_bits, row.run.1),
    ]
}
fn complex_of(
    row: &ComplexRow,
    dtype: &str,
    digits: [i32; 2],
    number: impl Fn(u64) -> f64,
    run: impl Fn([Vec<Complex<f64>>; 2]) -> Vec<Complex<f64>>,
) -> ComplexError {
    let text = tables()[2][dtype][row.name].as_str().unwrap_or_else(|| panic!("the table lacks {}", row.name));
    let bits = |text: &str| number(u64::from_str_radix(text, 16).expect("bits"));
    let rest = |text: &str| text.parse::<f64>().expect("thousandths") / 1000.0;
    let words: Vec<&str> = text.split(' ').collect();
    let cases = || words.chunks(2 * row.operands + 4);
    let operand = |at: usize| -> Vec<Complex<f64>> {
        if at >= row.operands {
            return Vec::new();
        }
        cases().map(|words| Complex::new(bits(words[2 * at]), bits(words[2 * at + 1]))).collect()
    };
    let mut error = ComplexError::default();
    for (words, got) in cases().zip(run([operand(0), operand(1)])) {
        let (given, wanted) = words.split_at(2 * row.operands);
        let given: Vec<f64> = given.iter().map(|text| bits(text)).collect();
        let wanted = [(bits(wanted[0]), rest(wanted[1])), (bits(wanted[2]), rest(wanted[3]))];
        let unit_of = |x: f64| unit(x, digits[0], digits[1]);
        let larger = unit_of(wanted[0].0).max(unit_of(wanted[1].0));
        for (got, (want, rest)) in [got.re, got.im].into_iter().zip(wanted) {
            let ulps = off(got, want, rest, Scale::Result, digits);
            error.of_part.meet(ulps, &given);
            error.of_larger.meet(ulps * (unit_of(want) / larger), &given);
        }
    }
    error
}

/// Some of the arguments that the tables of `f64` have for a function.
#[allow(dead_code)]
pub fn arguments(row: &Row) -> Vec<Vec<f64>> {
    let table = exact(row.name, "f64", if row.of_one.is_some() { 1 } else { 2 });
    table.into_iter().step_by(7).map(|(given, ..)| given.into_iter().map(f64::from_bits).collect()).collect()
}

/// The result of a function for one number, computed alone and as the first of 40.
#[allow(dead_code)]
pub fn alone_and_beside_others(row: &Row, x: &[f64]) -> (f64, f64) {
    let of = |len: usize| match (row.of_one, row.of_two) {
        (Some((_, f)), _) => f(vec![x[0]; len])[0],
        (_, Some((_, f))) => f([vec![x[0]; len], vec![x[1]; len]])[0],
        _ => f64::NAN,
    };
    (of(1), of(40))
}
