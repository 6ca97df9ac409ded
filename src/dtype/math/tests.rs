//! Every elementary function against a high-precision table, and in f32 against f64 over all exponents.
//!
//! `tests/oracle/functions.json.gz` says in `made_with` how it was made.

use super::*;
use std::io::Read as _;

/// The largest allowed errors in ulp: those measured with 40 times as many points and with every 127th f32, plus a margin.
const BOUNDS: [(&str, f64, f64); 23] = [
    // name, f32, f64
    ("exp", 2.0, 2.0),
    ("exp2", 2.0, 2.0),
    ("expm1", 2.0, 2.0),
    ("log", 2.0, 2.0),
    ("log2", 2.0, 2.0),
    ("log10", 2.0, 2.0),
    ("log1p", 2.0, 2.0),
    ("sin", 2.0, 2.0),
    ("cos", 2.0, 2.0),
    ("tan", 2.0, 2.0),
    ("sinh", 2.0, 2.0),
    ("cosh", 2.0, 2.0),
    ("tanh", 2.0, 2.0),
    ("asin", 2.0, 2.0),
    ("acos", 2.0, 2.0),
    ("atan", 2.0, 2.0),
    ("asinh", 2.0, 2.0),
    ("acosh", 2.0, 2.0),
    ("atanh", 2.0, 2.0),
    ("erf", 2.0, 2.0),
    ("erfc", 2.0, 2.0),
    ("pow", 2.0, 2.0),
    ("atan2", 2.0, 2.0),
];

fn unary<T: Real>(name: &str) -> Option<fn(T) -> T> {
    Some(match name {
        "exp" => exp,
        "exp2" => exp2,
        "expm1" => expm1,
        "log" => log,
        "log2" => log2,
        "log10" => log10,
        "log1p" => log1p,
        "sin" => sin,
        "cos" => cos,
        "tan" => tan,
        "sinh" => sinh,
        "cosh" => cosh,
        "tanh" => tanh,
        "asin" => asin,
        "acos" => acos,
        "atan" => atan,
        "asinh" => asinh,
        "acosh" => acosh,
        "atanh" => atanh,
        "erf" => erf,
        "erfc" => erfc,
        _ => return None,
    })
}

fn binary<T: Real>(name: &str) -> Option<fn(T, T) -> T> {
    match name {
        "pow" => Some(pow),
        "atan2" => Some(atan2),
        _ => None,
    }
}

/// Orders floats by value as integers; the two zeros are adjacent.
fn place<T: Real>(x: T, bits: fn(T) -> u64, width: u32) -> i64 {
    let sign = 1u64 << (width - 1);
    let x = bits(x);
    if x & sign != 0 { -((x & !sign) as i64) } else { x as i64 }
}

/// The error of `got` in ulp, where the exact value is `rest` ulp farther from 0 than `want`. Infinite if the two are of different kinds.
fn error<T: Real>(got: T, want: T, rest: f64, bits: fn(T) -> u64, width: u32) -> f64 {
    let exact = bits(got) == bits(want) || (got.wide().is_nan() && want.wide().is_nan());
    if exact {
        return rest.abs();
    }
    let special = |x: T| x.wide().is_nan() || (x.wide() == 0.0 && rest == 0.0);
    if special(got) != special(want) || want.wide().is_nan() || (got.wide() == 0.0 && want.wide() == 0.0) {
        return f64::INFINITY;
    }
    ((place(got, bits, width) - place(want, bits, width)) as f64 - rest).abs()
}

fn table() -> serde_json::Value {
    let folder = std::env::var("CASTIRON_ORACLE");
    let folder = folder.unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle").into());
    let path = folder + "/functions.json.gz";
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn check<T: Real + core::fmt::Debug>(
    kind: &str,
    bound: impl Fn(&str) -> f64,
    from: fn(u64) -> T,
    bits: fn(T) -> u64,
    width: u32,
) {
    let number = |text: &str| {
        if text == "nan" { T::of(f64::NAN) } else { from(u64::from_str_radix(text, 16).unwrap()) }
    };
    let mut failures = String::new();
    let table = table();
    for (name, rows) in table[kind].as_object().unwrap() {
        let words: Vec<&str> = rows.as_str().unwrap().split(' ').collect();
        let (one, two) = (unary::<T>(name), binary::<T>(name));
        let mut worst = (0.0, String::new());
        for row in words.chunks(if two.is_some() { 4 } else { 3 }) {
            let got = match (one, two) {
                (Some(f), _) => f(number(row[0])),
                (_, Some(f)) => f(number(row[0]), number(row[1])),
                _ => panic!("no function {name}"),
            };
            let want = number(row[row.len() - 2]);
            let rest = row[row.len() - 1].parse::<f64>().unwrap() / 1000.0;
            let off = error(got, want, rest, bits, width);
            if off > worst.0 {
                worst = (
                    off,
                    format!(
                        "{:?} gives {got:?}, not {want:?}",
                        row[..row.len() - 2].iter().map(|x| number(x)).collect::<Vec<_>>()
                    ),
                );
            }
        }
        println!("{kind} {name}: {:.3} ulp, {}", worst.0, worst.1);
        if worst.0 > bound(name) {
            failures += &format!("{kind} {name}: {:.3} ulp, {}\n", worst.0, worst.1);
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

fn bound(name: &str) -> (f64, f64) {
    let row = BOUNDS.iter().find(|row| row.0 == name).unwrap();
    (row.1, row.2)
}

#[test]
fn single_precision_is_as_accurate_as_documented() {
    check::<f32>("f32", |name| bound(name).0, |b| f32::from_bits(b as u32), |x| x.to_bits() as u64, 32);
}

#[test]
fn double_precision_is_as_accurate_as_documented() {
    check::<f64>("f64", |name| bound(name).1, f64::from_bits, f64::to_bits, 64);
}

/// The functions in f64, accurate to far below an ulp of f32.
fn reference(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "exp" => libm::exp,
        "exp2" => libm::exp2,
        "expm1" => libm::expm1,
        "log" => libm::log,
        "log2" => libm::log2,
        "log10" => libm::log10,
        "log1p" => libm::log1p,
        "sin" => libm::sin,
        "cos" => libm::cos,
        "tan" => libm::tan,
        "sinh" => libm::sinh,
        "cosh" => libm::cosh,
        "tanh" => libm::tanh,
        "asin" => libm::asin,
        "acos" => libm::acos,
        "atan" => libm::atan,
        "asinh" => libm::asinh,
        "acosh" => |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) },
        "atanh" => libm::atanh,
        "erf" => libm::erf,
        "erfc" => libm::erfc,
        _ => return None,
    })
}

/// A stride over the bits of f32: a prime, so that all exponents and signs are hit with varying digits.
const STEP: usize = 16_411;

/// The exponential of softmax: as accurate as `exp` where the result is a normal number, else zero.
#[test]
fn a_flushed_exponential_is_exp_or_zero() {
    fn check<T: Real + PartialOrd + core::fmt::Debug>(x: T, epsilon: f64) {
        let (got, want) = (super::exp_flushed(x), exp(x));
        let is_near = (got - want).abs() <= T::of(2.0 * epsilon) * want;
        assert!(if x < T::EXP_NORMAL { got == T::of(0.0) } else { is_near }, "{x:?}: {got:?}, not {want:?}");
    }
    for at in 0..200_000 {
        check::<f32>(at as f32 / -1900.0, f32::EPSILON.into());
        check::<f64>(f64::from(at) / -260.0, f64::EPSILON);
    }
    for x in [f32::NEG_INFINITY, f32::MIN, -0.0, 0.0, -f32::MIN_POSITIVE] {
        check(x, f32::EPSILON.into());
        check(f64::from(x), f64::EPSILON);
    }
    assert!(super::exp_flushed(f32::NAN).is_nan() && super::exp_flushed(f64::NAN).is_nan());
}

#[test]
fn single_precision_agrees_with_double() {
    let mut failures = String::new();
    for (name, bound, _) in BOUNDS {
        let (Some(f), Some(g)) = (unary::<f32>(name), reference(name)) else { continue };
        let mut worst = (0.0, 0.0);
        for pattern in (0..=u32::MAX).step_by(STEP) {
            let x = f32::from_bits(pattern);
            let (got, exact) = (f(x), g(x as f64));
            let want = exact as f32;
            let off = if want.is_finite() {
                // One ulp of the result, from its exponent.
                let exponent = ((want.to_bits() >> 23) & 255).max(1) as i32;
                (got as f64 - exact).abs() / libm::ldexp(1.0, exponent - 150)
            } else if got == want || (got.is_nan() && want.is_nan()) {
                0.0
            } else {
                f64::INFINITY
            };
            if off.is_nan() || off > worst.0 {
                worst = (off, x);
            }
        }
        println!("f32 {name}: {:.3} ulp at {:?}", worst.0, worst.1);
        if worst.0.is_nan() || worst.0 > bound {
            failures += &format!("f32 {name}: {:.3} ulp at {:?}\n", worst.0, worst.1);
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}
