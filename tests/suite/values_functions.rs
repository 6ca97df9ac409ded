//! The values of elementwise functions, with and without parameters, compared with PyTorch's: rows of `values.json`, and of
//! `functions_torch.json` for functions, parameters and pairs that are not in `values.json`.

use crate::common::{Answer, Tally, Token, Tolerance, json, parse_all};
use castiron::ops::{self, BinaryOp, TunedOp, UnaryOp};
use castiron::shape::{Broadcast, Shape};
use castiron::{Admits, Complex, Dtype, Dyn, Outcome, Tensor, TensorOperand, bf16, f16};
use serde_json::Value;
use std::marker::PhantomData;

type Vector<E> = Tensor<E, (Dyn,)>;
type Parameters = [Option<f64>; 3];

/// A case that may not exist: the inherent function shadows the trait's where the bounds hold.
struct Case<Op, E>(PhantomData<(Op, E)>);
trait Refused {
    fn unary(_: &str) -> Option<Answer> {
        None
    }
    fn tuned(_: &str, _: Parameters) -> Option<castiron::Result<Answer>> {
        None
    }
    fn binary(_: &str, _: &str) -> Option<Answer> {
        None
    }
}
impl<Op, E> Refused for Case<Op, E> {}

/// Calls a case for the dtype with this code.
macro_rules! every_dtype {
    ($op:ty, $dtype:expr, $run:ident $args:tt) => {
        every_dtype!(@ $op, $dtype, $run $args; "bool" bool, "u8" u8, "i8" i8, "i16" i16, "i32" i32, "i64" i64, "f16" f16,
            "bf16" bf16, "f32" f32, "f64" f64, "c32" Complex<f16>, "c64" Complex<f32>, "c128" Complex<f64>)
    };
    (@ $op:ty, $dtype:expr, $run:ident $args:tt; $($code:literal $ty:ty),*) => {
        match $dtype {
            $($code => every_dtype!(@call $op, $ty, $run $args),)*
            _ => None,
        }
    };
    (@call $op:ty, $ty:ty, $run:ident($($arg:expr),*)) => { <Case<$op, $ty>>::$run($($arg),*) };
}

/// Runs an operation through its method.
trait RunUnary<E: Dtype>: UnaryOp<E> {
    fn run(x: &Vector<E>) -> Vector<Self::Output>;
}
impl<Op: RunUnary<E, Output: Token>, E: Token + Dtype> Case<Op, E> {
    fn unary(tokens: &str) -> Option<Answer> {
        let x: Vector<E> = parse_all(tokens).into();
        Some(Answer::new(Op::run(&x).to_vec()))
    }
}
macro_rules! unary_cases {
    ($($op:ident)*) => {
        $(impl<E: Dtype> RunUnary<E> for ops::$op where ops::$op: UnaryOp<E> {
            fn run(x: &Vector<E>) -> Vector<Self::Output> {
                x.$op()
            }
        })*
        /// `None`: not an operation of this list; `Some(None)`: refused by the compiler.
        fn unary(op: &str, dtype: &str, tokens: &str) -> Option<Option<Answer>> {
            Some(match op {
                $(stringify!($op) => every_dtype!(ops::$op, dtype, unary(tokens)),)*
                _ => return None,
            })
        }
    };
}
unary_cases! {
    acos acosh asin asinh atan atanh sinh cosh exp2 expm1 log2 log10 log1p sinc softsign tanhshrink erfc erfinv erfcx lgamma
    digamma entr ndtr ndtri log_ndtr i0 i0e i1 i1e airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0
    modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1
    spherical_bessel_j0 deg2rad rad2deg sgn positive conj_physical fix frac relu6 selu logsigmoid hardsigmoid hardswish mish
    isneginf isposinf signbit isreal
}

/// Runs an operation with parameters.
trait RunTuned<E: Dtype>: TunedOp<E> {
    fn run(x: &Vector<E>, parameters: Parameters) -> castiron::Result<Vector<Self::Output>>;
}
impl<Op: RunTuned<E, Output: Token>, E: Token + Dtype> Case<Op, E> {
    fn tuned(tokens: &str, parameters: Parameters) -> Option<castiron::Result<Answer>> {
        let x: Vector<E> = parse_all(tokens).into();
        Some(Op::run(&x, parameters).map(|result| Answer::new(result.to_vec())))
    }
}
macro_rules! tuned_cases {
    ($($op:ident: |$x:ident, $p:pat_param| $run:expr;)*) => {
        $(impl<E: Dtype> RunTuned<E> for ops::$op where ops::$op: TunedOp<E> {
            fn run($x: &Vector<E>, $p: Parameters) -> castiron::Result<Vector<Self::Output>> {
                $run
            }
        })*
        fn tuned(op: &str, dtype: &str, tokens: &str, parameters: Parameters) -> Option<Option<castiron::Result<Answer>>> {
            Some(match op {
                $(stringify!($op) => every_dtype!(ops::$op, dtype, tuned(tokens, parameters)),)*
                _ => return None,
            })
        }
    };
}
tuned_cases! {
    elu: |x, [alpha, ..]| x.try_elu(alpha.unwrap());
    celu: |x, [alpha, ..]| x.try_celu(alpha.unwrap());
    softplus: |x, [beta, threshold, _]| x.try_softplus(beta.unwrap(), threshold.unwrap());
    softshrink: |x, [lambda, ..]| x.try_softshrink(lambda.unwrap());
    hardshrink: |x, [lambda, ..]| x.try_hardshrink(lambda.unwrap());
    hardtanh: |x, [min, max, _]| x.try_hardtanh(min.unwrap(), max.unwrap());
    leaky_relu: |x, [slope, ..]| x.try_leaky_relu(slope.unwrap());
    threshold: |x, [threshold, value, _]| x.try_threshold(threshold.unwrap(), value.unwrap());
    logit: |x, [eps, ..]| x.try_logit(eps);
    nan_to_num: |x, [nan, above, below]| x.try_nan_to_num(nan.unwrap(), above, below);
    round_decimals: |x, [decimals, ..]| x.try_round_decimals(decimals.unwrap() as i64);
    polygamma: |x, [n, ..]| x.try_polygamma(n.unwrap() as i64);
    mvlgamma: |x, [p, ..]| x.try_mvlgamma(p.unwrap() as i64);
}

/// Runs an operation of two operands.
trait RunBinary: BinaryOp {
    fn run<E: Dtype, S: Shape + Broadcast<R::Shape>, R: TensorOperand<Place = castiron::Cpu>>(
        a: &Tensor<E, S>,
        b: R,
    ) -> castiron::Result<Tensor<Outcome<Self, E, S, R>, <S as Broadcast<R::Shape>>::Output>>
    where
        Self: Admits<E, R::Elem, R::Kind>;
}
// rustc does not count bounds as uses.
#[allow(dead_code)]
type Kind<S> = <S as Shape>::Kind;
#[allow(dead_code)]
type VectorResult<Op, E> = Outcome<Op, E, (Dyn,), &'static Vector<E>>;
impl<Op: RunBinary, E: Token + Dtype> Case<Op, E>
where
    Op: Admits<E, E, Kind<(Dyn,)>>,
    VectorResult<Op, E>: Token,
{
    fn binary(left: &str, right: &str) -> Option<Answer> {
        let (a, b): (Vector<E>, Vector<E>) = (parse_all(left).into(), parse_all(right).into());
        Op::run(&a, &b).ok().map(|result| Answer::new(result.to_vec()))
    }
}
macro_rules! binary_cases {
    ($($op:ident $try:ident;)*) => {
        $(impl RunBinary for ops::$op {
            fn run<E: Dtype, S: Shape + Broadcast<R::Shape>, R: TensorOperand<Place = castiron::Cpu>>(
                a: &Tensor<E, S>,
                b: R,
            ) -> castiron::Result<Tensor<Outcome<Self, E, S, R>, <S as Broadcast<R::Shape>>::Output>>
            where
                Self: Admits<E, R::Elem, R::Kind>,
            {
                a.$try(b)
            }
        })*
        fn binary(op: &str, dtype: &str, left: &str, right: &str) -> Option<Option<Answer>> {
            Some(match op {
                $(stringify!($op) => every_dtype!(ops::$op, dtype, binary(left, right)),)*
                _ => return None,
            })
        }
    };
}
binary_cases! {
    rsub try_rsub; true_divide try_true_divide; float_power try_float_power; fmax try_fmax; fmin try_fmin; gcd try_gcd;
    lcm try_lcm; atan2 try_atan2; hypot try_hypot; copysign try_copysign; nextafter try_nextafter;
    heaviside try_heaviside; ldexp try_ldexp; logaddexp try_logaddexp; logaddexp2 try_logaddexp2; xlogy try_xlogy;
    xlog1py try_xlog1py; zeta try_zeta;
}

/// The operation that a row of `values.json` is of, and the parameters it was called with.
fn known(name: &str) -> (&str, Parameters) {
    let one = |op, a: f64| (op, [Some(a), None, None]);
    match name {
        "F_elu" => one("elu", 1.0),
        "F_celu" => one("celu", 1.0),
        "F_softplus" => ("softplus", [Some(1.0), Some(20.0), None]),
        "F_softshrink" => one("softshrink", 0.5),
        "F_hardshrink" => one("hardshrink", 0.5),
        "F_hardtanh" => ("hardtanh", [Some(-1.0), Some(1.0), None]),
        "F_leaky_relu" => one("leaky_relu", 0.01),
        "logit" => ("logit", [None; 3]),
        "nan_to_num" => one("nan_to_num", 0.0),
        "round_d1" => one("round_decimals", 1.0),
        "round_d-1" => one("round_decimals", -1.0),
        "special_psi" => ("digamma", [None; 3]),
        _ => (name.strip_prefix("F_").or(name.strip_prefix("special_")).unwrap_or(name), [None; 3]),
    }
}

/// How far results may be from PyTorch's.
fn tolerance(op: &str, dtype: &str) -> Tolerance {
    let exact = [
        "sgn",
        "positive",
        "conj_physical",
        "fix",
        "frac",
        "relu6",
        "isneginf",
        "isposinf",
        "signbit",
        "isreal",
        "hardshrink",
        "hardtanh",
        "threshold",
        "nan_to_num",
        "rsub",
        "true_divide",
        "fmax",
        "fmin",
        "gcd",
        "lcm",
        "copysign",
        "nextafter",
        "heaviside",
    ];
    let (ulps, of_one) = match op {
        "sgn" if dtype.starts_with('c') => (2.0, 0.0),
        _ if exact.contains(&op) => (0.0, 0.0),
        // these lose digits where they cancel, in PyTorch as here (its digamma of 3/2 one and a half of those of 1)
        "digamma" => (8.0, 2.0),
        "ndtr" | "tanhshrink" | "log_ndtr" | "lgamma" | "mvlgamma" => (8.0, 1.0),
        "airy_ai" | "bessel_j0" | "bessel_j1" | "bessel_y0" | "bessel_y1" | "polygamma" => (8.0, 4.0),
        "logaddexp2" => (2.0, 1.0),
        "erfinv" => (64.0, 0.0),
        "i0" | "i0e" | "i1" | "i1e" | "erfcx" | "zeta" => (12.0, 0.0),
        _ if op.contains("modified_bessel") => (12.0, 0.0),
        "float_power" => (if dtype.starts_with('c') { 128.0 } else { 2.0 }, 0.0),
        _ if dtype.starts_with('c') => (4.0, 0.0),
        _ => (2.0, 0.0),
    };
    Tolerance { ulps, of_one }
}

/// Compares one answer with its row.
fn compare(tally: &mut Tally, what: &str, ours: Option<castiron::Result<Answer>>, row: [&str; 4], unstable: &Value) {
    let [op, dtype, result, tokens] = row;
    match ours {
        Some(Ok(answer)) if result != "err" => {
            tally.row(what, &answer, result, tokens, unstable, tolerance(op, result));
        }
        Some(Err(_)) if result == "err" => tally.agree += 1,
        Some(Err(error)) => tally.disagree.push(format!("{what}: {error}, PyTorch {result}")),
        Some(Ok(_)) => tally.set_aside("beyond PyTorch"),
        None if crate::common::dtype(dtype).unwrap().is_shell() => tally.set_aside("shell dtypes have no arithmetic"),
        None if result == "err" => tally.agree += 1,
        None => tally.disagree.push(format!("{what}: refused, PyTorch {result}")),
    }
}

fn texts(row: &Value) -> [&str; 4] {
    [0, 1, 2, 3].map(|at| row[at].as_str().unwrap())
}
fn parameters(row: &Value) -> Parameters {
    [0, 1, 2].map(|at| row.get(at).and_then(Value::as_f64))
}

#[test]
fn functions_of_one_operand() {
    let table = json("values.json");
    let mut tally = Tally::default();
    for row in table["unary"].as_array().unwrap() {
        let [name, dtype, result, tokens] = texts(row);
        let (op, parameters) = known(name);
        let inputs = table["inputs_unary"][dtype].as_str().unwrap_or("");
        let ours = match (unary(op, dtype, inputs), tuned(op, dtype, inputs, parameters)) {
            (Some(answer), _) => answer.map(Ok),
            (None, Some(answer)) => answer,
            (None, None) => continue,
        };
        compare(&mut tally, &format!("{name} {dtype}"), ours, [op, dtype, result, tokens], &row[4]);
    }
    let table = json("functions_torch.json");
    for row in table["unary"].as_array().unwrap() {
        let [op, dtype, result, tokens] = texts(row);
        let ours = unary(op, dtype, table["inputs"][dtype].as_str().unwrap()).unwrap();
        compare(&mut tally, &format!("{op} {dtype}"), ours.map(Ok), [op, dtype, result, tokens], &Value::Null);
    }
    tally.finish("functions of one operand");
}

#[test]
fn functions_with_parameters() {
    let table = json("functions_torch.json");
    let mut tally = Tally::default();
    for row in table["tuned"].as_array().unwrap() {
        let [op, dtype, result, tokens] = texts(row);
        let ours = tuned(op, dtype, table["inputs"][dtype].as_str().unwrap(), parameters(&row[4])).unwrap();
        let what = format!("{op} {dtype} {}", row[4]);
        compare(&mut tally, &what, ours, [op, dtype, result, tokens], &Value::Null);
    }
    tally.finish("functions with parameters");
}

#[test]
fn functions_of_two_operands() {
    let table = json("values.json");
    let mut tally = Tally::default();
    for row in table["binary"].as_array().unwrap() {
        let [op, dtype, result, tokens] = texts(row);
        let Some(inputs) = table["inputs_binary"].get(dtype) else { continue };
        let (left, right) = (inputs[0].as_str().unwrap(), inputs[1].as_str().unwrap());
        let Some(ours) = binary(op, dtype, left, right) else { continue };
        compare(&mut tally, &format!("{op} {dtype}"), ours.map(Ok), [op, dtype, result, tokens], &row[4]);
    }
    let table = json("functions_torch.json");
    for row in table["binary"].as_array().unwrap() {
        let [op, dtype, result, tokens] = texts(row);
        let inputs = &table["pairs"][dtype];
        let ours = binary(op, dtype, inputs[0].as_str().unwrap(), inputs[1].as_str().unwrap()).unwrap();
        compare(&mut tally, &format!("{op} {dtype}"), ours.map(Ok), [op, dtype, result, tokens], &Value::Null);
    }
    tally.finish("functions of two operands");
}

/// `isclose`, for a dtype.
struct Close<E>(PhantomData<E>);
impl<E: Token + Dtype> Close<E> {
    fn run(left: &str, right: &str, rtol: f64, atol: f64, equal_nan: bool) -> Answer {
        let (a, b): (Vector<E>, Vector<E>) = (parse_all(left).into(), parse_all(right).into());
        Answer::new(a.isclose(&b, rtol, atol, equal_nan).to_vec())
    }
}

#[test]
fn closeness() {
    macro_rules! every {
        ($dtype:expr, $args:tt; $($code:literal $ty:ty),*) => {
            match $dtype {
                $($code => every!(@ $ty, $args),)*
                other => panic!("unknown dtype {other}"),
            }
        };
        (@ $ty:ty, ($($arg:expr),*)) => { <Close<$ty>>::run($($arg),*) };
    }
    let run = |dtype: &str, left: &str, right: &str, rtol: f64, atol: f64, equal_nan: bool| {
        every!(dtype, (left, right, rtol, atol, equal_nan); "bool" bool, "u8" u8, "i8" i8, "i16" i16, "i32" i32, "i64" i64,
            "f16" f16, "bf16" bf16, "f32" f32, "f64" f64, "c32" Complex<f16>, "c64" Complex<f32>, "c128" Complex<f64>)
    };
    let mut tally = Tally::default();
    let table = json("values.json");
    for row in table["binary"].as_array().unwrap().iter().filter(|row| row[0] == "isclose") {
        let [_, dtype, result, tokens] = texts(row);
        if result == "err" || crate::common::dtype(dtype).unwrap().is_shell() {
            continue;
        }
        let inputs = &table["inputs_binary"][dtype];
        let answer = run(dtype, inputs[0].as_str().unwrap(), inputs[1].as_str().unwrap(), 1e-5, 1e-8, false);
        tally.row(dtype, &answer, result, tokens, &row[4], 0.0);
    }
    for row in json("functions_torch.json")["isclose"].as_array().unwrap() {
        let [left, right, tokens] = [2, 3, 4].map(|at| row[at].as_str().unwrap());
        let (rtol, atol) = (row[1][0].as_f64().unwrap(), row[1][1].as_f64().unwrap());
        let dtype = row[0].as_str().unwrap();
        let answer = run(dtype, left, right, rtol, atol, row[1][2].as_bool().unwrap());
        tally.row(&format!("{dtype} {}", row[1]), &answer, "bool", tokens, &Value::Null, 0.0);
    }
    tally.finish("isclose");
}

#[test]
fn parameters_that_are_refused() {
    use castiron::tensor;
    let x = tensor![1.0];
    let message = |result: castiron::Result<Tensor<f32, castiron::shape![1]>>| result.unwrap_err().to_string();
    assert_eq!(message(x.try_celu(0)), "celu: `alpha` must not be 0");
    assert_eq!(message(x.try_softshrink(-0.5)), "softshrink: `lambda` must not be negative");
    assert_eq!(message(x.try_polygamma(-1)), "polygamma: `n` must not be negative");
    assert_eq!(message(x.try_mvlgamma(0)), "mvlgamma: `p` must be at least 1");
    assert!(x.try_elu(Complex::new(1.0_f64, 0.0)).is_err());
    let mut bytes = tensor![1, 9; u8];
    assert_eq!(bytes.try_hardtanh_(-1, 1).unwrap_err().to_string(), "hardtanh: `u8` has no negative bounds");
    assert!(bytes.try_threshold(300, 0).is_err());
    bytes.hardtanh_(2, 5);
    assert_eq!(bytes.to_vec(), [2, 5]);
    let mut wide: Tensor<f64, castiron::shape![1]> = Tensor::zeros();
    x.logit_into(Some(0.25), &mut wide);
    assert_eq!(wide.to_vec(), [f64::from(3.0_f32.ln())]);
}
