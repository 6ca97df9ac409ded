//! Every floating-point row compared with central differences. Rows without a derivative are listed here.

use super::Dual;
use super::read::Numbers::{self, Complex as Plane, Real};
use crate::dtype::numbers::MachineInexact;
use crate::dtype::{Complex, DType, Special};
use crate::ops::record::rows::{self, Row};
use num_traits::Float;

/// Rows without a derivative by an operand (counted from 0), and why.
const NONE: &[(&str, usize, &str)] = &[
    ("airy_ai", 0, "its derivative is a function that the crate does not have"),
    ("zeta", 0, "its derivative by the exponent is no function of the crate, nor of PyTorch"),
    ("igamma", 0, "its derivative by the first operand is no function of the crate, nor of PyTorch"),
    ("igammac", 0, "the same"),
    ("nextafter", 0, "a step to the neighbour; PyTorch has none either"),
    ("nextafter", 1, "a step to the neighbour; PyTorch has none either"),
    ("ldexp", 1, "the formula is that of whole exponents"),
];

/// Rows with zero derivative wherever it exists, and why.
const FLAT: &[(&str, usize, &str)] = &[
    ("floor", 0, "steps"),
    ("ceil", 0, "steps"),
    ("round", 0, "steps"),
    ("trunc", 0, "steps"),
    ("fix", 0, "steps"),
    ("round_decimals", 0, "steps"),
    ("floor_divide", 0, "steps"),
    ("floor_divide", 1, "steps"),
    ("trunc_divide", 0, "steps"),
    ("trunc_divide", 1, "steps"),
    ("sign", 0, "a sign"),
    ("sgn", 0, "a sign"),
    ("angle", 0, "0 or pi of real numbers"),
    ("heaviside", 0, "0 or 1"),
    ("heaviside", 1, "counts at 0 alone"),
    ("copysign", 1, "counts by its sign alone"),
];

/// Rows whose value is infinite everywhere.
const INFINITE: &[&str] = &["largest_start", "smallest_start"];

/// Rows whose function and derivative are approximations that agree to fewer digits: how many, and why.
const ROUGH: &[(&str, f64, &str)] = &[
    ("bessel_j0", 1e-5, "PyTorch's form above 5, whose denominator lacks its first term"),
    ("bessel_j1", 1e-5, "the same"),
    ("bessel_y0", 1e-5, "the same"),
    ("bessel_y1", 1e-5, "the same"),
];

fn points(row: &Row) -> Vec<Vec<f64>> {
    let near = [0.31, 0.72, -0.43, 1.63, -1.27, 2.58, 5.21, -3.62, 12.4];
    let others = [1.37, -0.62, 2.4, 0.45, 3.3, 1.8, -2.2, 0.9, 3.7];
    let parameters = match row.name {
        "hardtanh" => [-1.0, 1.0, 0.0],
        "logit" => [-1.0, 0.0, 0.0],
        "round_decimals" => [1.0, 0.0, 0.0],
        "polygamma" => [2.0, 0.0, 0.0],
        "mvlgamma" => [3.0, 0.0, 0.0],
        "lerp" => [2.5, 0.3, 0.0],
        _ => [1.3, 0.8, 0.6],
    };
    let with = |(&x, &y): (&f64, &f64)| match row.operands() {
        1 => vec![x],
        2 if row.name == "ldexp" => vec![x, y.round()],
        2 if row.name == "zeta" => vec![y.abs() + 1.0, x],
        2 => vec![x, y],
        _ => [vec![x], parameters.to_vec()].concat(),
    };
    near.iter().zip(&others).map(with).collect()
}

/// The value and its tangent with respect to operand `place`.
fn tangent(row: &Row, at: &[f64], place: usize) -> Option<Dual<f64>> {
    let number = |(i, &x): (usize, &f64)| Dual::new(x, if i == place { 1.0 } else { 0.0 });
    match (row.dual)(&Real(at.iter().enumerate().map(number).collect()))? {
        Real(result) => Some(result[0]),
        Plane(_) => None,
    }
}

/// The derivative by differences, and its error bound.
pub(super) fn difference(f: impl Fn(f64) -> f64, x: f64) -> (f64, f64) {
    let by = |h: f64| (f(x + h) - f(x - h)) / (2.0 * h);
    let h = 1e-3 * x.abs().max(1.0);
    let (coarse, fine) = (by(h), by(h / 2.0));
    ((4.0 * fine - coarse) / 3.0, (fine - coarse).abs() * 0.1)
}

fn is_floating(row: &Row) -> bool {
    row.dtypes().contains(&DType::F64)
}

#[test]
fn derivatives_are_what_differences_say() {
    let (mut rows, mut derivatives) = (0, 0);
    let mut without: Vec<&str> = Vec::new();
    for row in rows::all() {
        if INFINITE.contains(&row.name) || !is_floating(row) || tangent(row, &points(row)[0], 0).is_none() {
            without.push(row.name);
            continue;
        }
        rows += 1;
        let within = ROUGH.iter().find(|(name, ..)| *name == row.name).map_or(2e-7, |&(_, within, _)| within);
        // Parameters are not varied, except those of `lerp`.
        let places = if row.name == "lerp" { 3 } else { [0, 1, 2, 0, 1][row.operands()] };
        for place in 0..places {
            let listed =
                |list: &[(&str, usize, &str)]| list.iter().any(|(name, of, _)| *name == row.name && *of == place);
            let (none, is_flat) = (listed(NONE), listed(FLAT));
            let (mut compared, mut moves, mut wrong) = (0, false, false);
            for at in points(row) {
                let f = |x: f64| {
                    let mut at = at.clone();
                    at[place] = x;
                    tangent(row, &at, place).map_or(f64::NAN, |dual| dual.value)
                };
                let (expected, unsure) = difference(f, at[place]);
                if !expected.is_finite() {
                    continue;
                }
                compared += 1;
                let found = tangent(row, &at, place).map_or(f64::NAN, |dual| dual.tangent);
                moves |= found != 0.0;
                let agree = (found - expected).abs() <= unsure + within * (1.0 + expected.abs());
                wrong |= !agree;
                assert!(agree || none, "{} at {at:?} by operand {place}: {found}, not {expected}", row.name);
            }
            assert!(wrong || !none, "{} has a derivative by operand {place}, and is listed as without", row.name);
            assert!(compared >= 2, "{}: {compared} points lie in its domain", row.name);
            if !none {
                assert_eq!(!moves, is_flat, "{} by operand {place}: flat or not, the list says otherwise", row.name);
                derivatives += 1;
            }
        }
    }
    println!("{rows} rows, {derivatives} derivatives; answers and integers: {without:?}");
}

#[test]
fn complex_derivatives_are_what_differences_say() {
    let (mut rows, at) = (0, [(0.31, 0.44), (-0.72, 0.35), (1.63, -0.8), (-0.4, -1.27)]);
    for row in rows::all() {
        if !row.dtypes().contains(&DType::C128) {
            continue;
        }
        let run = |z: Complex<f64>, moving: bool| -> Option<Complex<Dual<f64>>> {
            let number = |re: f64, im: f64, by: f64| Complex::new(Dual::new(re, by), Dual::constant(im));
            let first = number(z.re, z.im, if moving { 1.0 } else { 0.0 });
            let operands = [first, number(1.3, 0.4, 0.0), number(0.2, -0.7, 0.0), number(0.6, 0.1, 0.0)];
            match (row.dual)(&Plane(operands[..row.operands()].to_vec()))? {
                Plane(result) => Some(result[0]),
                Numbers::Real(_) => None,
            }
        };
        let mut compared = 0;
        for (x, y) in at {
            let Some(found) = run(Complex::new(x, y), true) else { continue };
            let part = |of: fn(Complex<Dual<f64>>) -> f64| {
                difference(|x| run(Complex::new(x, y), false).map_or(f64::NAN, of), x)
            };
            for ((expected, unsure), found) in
                [(part(|z| z.re.value), found.re.tangent), (part(|z| z.im.value), found.im.tangent)]
            {
                compared += 1;
                let agree = (found - expected).abs() <= unsure + 2e-7 * (1.0 + expected.abs());
                assert!(agree, "{} at {x} + {y}i: {found}, not {expected}", row.name);
            }
        }
        rows += usize::from(compared > 0);
    }
    println!("{rows} complex rows");
}

#[test]
fn what_does_not_change_counts_for_nothing() {
    // The exponent is constant here.
    let power = Dual::new(-2.0, 1.0).powf(Dual::lit(3.0));
    assert_eq!((power.value, power.tangent), (-8.0, 12.0));
    let zeta = Dual::lit(3.0).zeta(Dual::new(1.5, 1.0));
    assert!(zeta.tangent < 0.0);
    // Derivatives can be recorded as GPU text as well.
    use crate::dtype::Unary;
    let tangent = crate::ops::record::rows::of_float::<f32>("ci_d_tanh_f32", |x| {
        <crate::ops::tanh as Unary>::real(Dual::new(x, MachineInexact::lit(1.0))).tangent
    });
    assert_eq!(
        crate::ops::record::cuda::library([&tangent.unwrap()]),
        "CI_FN float ci_d_tanh_f32(float a0) {\n  const float v2 = ci_tanh(a0);\n  const float v3 = v2 * v2;\n  \
         const float v4 = 1.0f - v3;\n  const float v5 = 1.0f * v4;\n  return v5;\n}\n"
    );
}
