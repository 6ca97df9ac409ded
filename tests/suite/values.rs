//! The values of elementwise operations, compared with PyTorch's: unary, binary on one dtype, on two, with a zero-dim operand, and
//! conversions. Each case is a generic function, run for every dtype for which it compiles.

use crate::common::{Answer, Tally, Token, code, json, parse_all};
use castiron::ops::{self, BinaryOp, UnaryOp};
use castiron::shape::{Broadcast, Shape};
use castiron::{
    Admits, CastTo, Complex, Dtype, Dyn, Element, F4E2M1FNX2, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU,
    Outcome, Tensor, TensorOperand, bf16, f16,
};
use std::marker::PhantomData;

type Vector<E> = Tensor<E, (Dyn,)>;

/// A case that may not exist: the inherent function shadows the trait's where the bounds hold.
struct Case<Op, A, B = ()>(PhantomData<(Op, A, B)>);
trait Refused {
    fn unary(_: &str) -> Option<Answer> {
        None
    }
    fn binary(_: &str, _: &str) -> Option<Answer> {
        None
    }
    fn with_zero_dim(_: &str, _: &str) -> Option<Answer> {
        None
    }
    fn each(_: &str, _: &str) -> Option<Vec<Option<Answer>>> {
        None
    }
    fn cast(_: &str) -> Option<Answer> {
        None
    }
}
impl<Op, A, B> Refused for Case<Op, A, B> {}

/// Runs an operation through its method.
trait RunUnary<E: Dtype>: UnaryOp<E> {
    fn run(x: &Vector<E>) -> Vector<Self::Output>;
}
macro_rules! run_unary {
    ($($op:ident)*) => {$(
        impl<E: Dtype> RunUnary<E> for ops::$op where ops::$op: UnaryOp<E> {
            fn run(x: &Vector<E>) -> Vector<Self::Output> {
                x.$op()
            }
        }
    )*};
}
run_unary!(abs neg sign square exp log sqrt rsqrt reciprocal sin cos tan tanh sigmoid erf relu gelu gelu_tanh silu);
run_unary!(floor ceil round trunc conj angle logical_not bitwise_not isnan isinf isfinite);

impl<Op: RunUnary<E, Output: Token>, E: Token + Dtype> Case<Op, E> {
    fn unary(tokens: &str) -> Option<Answer> {
        let x: Vector<E> = parse_all(tokens).into();
        Some(Answer::new(Op::run(&x).to_vec()))
    }
}

/// Runs an operation through its `try_` method.
trait RunBinary: BinaryOp {
    fn run<E: Dtype, S: Shape + Broadcast<R::Shape>, R: TensorOperand<Place = castiron::Cpu>>(
        a: &Tensor<E, S>,
        b: R,
    ) -> castiron::Result<Tensor<Outcome<Self, E, S, R>, <S as Broadcast<R::Shape>>::Output>>
    where
        Self: Admits<E, R::Elem, R::Kind>;
}
macro_rules! run_binary {
    ($($op:ident $try:ident)*) => {$(
        impl RunBinary for ops::$op {
            fn run<E: Dtype, S: Shape + Broadcast<R::Shape>, R: TensorOperand<Place = castiron::Cpu>>(
                a: &Tensor<E, S>,
                b: R,
            ) -> castiron::Result<Tensor<Outcome<Self, E, S, R>, <S as Broadcast<R::Shape>>::Output>>
            where
                Self: Admits<E, R::Elem, R::Kind>,
            {
                a.$try(b)
            }
        }
    )*};
}
run_binary! {
    add try_add sub try_sub mul try_mul div try_div floor_divide try_floor_divide trunc_divide try_trunc_divide
    remainder try_remainder fmod try_fmod pow try_pow maximum try_maximum minimum try_minimum clamp_min try_clamp_min
    clamp_max try_clamp_max eq try_eq ne try_ne lt try_lt le try_le gt try_gt ge try_ge bitwise_and try_bitwise_and
    bitwise_or try_bitwise_or bitwise_xor try_bitwise_xor bitwise_left_shift try_bitwise_left_shift
    bitwise_right_shift try_bitwise_right_shift logical_and try_logical_and logical_or try_logical_or
    logical_xor try_logical_xor atan2 try_atan2 copysign try_copysign ldexp try_ldexp
}

// rustc does not count bounds as uses.
#[allow(dead_code)]
type Kind<S> = <S as Shape>::Kind;
#[allow(dead_code)]
type VectorResult<Op, A, B> = Outcome<Op, A, (Dyn,), &'static Vector<B>>;
#[allow(dead_code)]
type ZeroDimResult<Op, A, B> = Outcome<Op, A, (Dyn,), &'static Tensor<B, ()>>;

impl<Op: RunBinary, A: Token + Dtype, B: Token + Dtype> Case<Op, A, B>
where
    Op: Admits<A, B, Kind<(Dyn,)>> + Admits<A, B, Kind<()>>,
    VectorResult<Op, A, B>: Token,
    ZeroDimResult<Op, A, B>: Token,
{
    fn binary(left: &str, right: &str) -> Option<Answer> {
        let (a, b): (Vector<A>, Vector<B>) = (parse_all(left).into(), parse_all(right).into());
        Op::run(&a, &b).ok().map(|result| Answer::new(result.to_vec()))
    }

    /// The third element of the right operand's tokens as a zero-dim tensor.
    fn with_zero_dim(left: &str, right: &str) -> Option<Answer> {
        let a: Vector<A> = parse_all(left).into();
        let b: Tensor<B, ()> = Tensor::scalar(parse_all::<B>(right)[2]);
        Op::run(&a, &b).ok().map(|result| Answer::new(result.to_vec()))
    }

    /// Element by element, for operations that fail on some.
    fn each(left: &str, right: &str) -> Option<Vec<Option<Answer>>> {
        let pairs = parse_all::<A>(left).into_iter().zip(parse_all::<B>(right));
        let run = |(a, b): (A, B)| {
            Op::run(&Vector::from(vec![a]), &Vector::from(vec![b])).ok().map(|result| Answer::new(result.to_vec()))
        };
        Some(pairs.map(run).collect())
    }
}

impl<A: Token + CastTo<B>, B: Token> Case<(), A, B> {
    fn cast(tokens: &str) -> Option<Answer> {
        let x: Vector<A> = parse_all(tokens).into();
        Some(Answer::new(x.to::<B>().to_vec()))
    }
}

/// How far results may be from PyTorch's, in units in the last place; 0 is bit for bit. (`f16` and `bf16` results are rounded
/// from `f32`, where one such unit may tip the rounding.)
fn tolerance(op: &str, dtype: &str) -> f64 {
    let transcendental = matches!(
        op,
        "exp"
            | "log"
            | "rsqrt"
            | "sin"
            | "cos"
            | "tan"
            | "tanh"
            | "sigmoid"
            | "erf"
            | "F_gelu"
            | "gelu_tanh"
            | "F_silu"
    );
    let complex = dtype.starts_with('c');
    match op {
        "pow" if complex => 128.0,
        "pow" if dtype.starts_with('f') || dtype.starts_with('b') => 2.0,
        "F_gelu" | "gelu_tanh" => 4.0,
        "sqrt" | "reciprocal" | "abs" | "angle" | "square" | "mul" | "div" if complex => 2.0,
        // PyTorch's square root is its vector library's, which is one unit off on some machines
        "abs" | "angle" | "sqrt" => 1.0,
        "atan2" => 2.0,
        "ldexp" if complex => 128.0,
        _ if transcendental && complex => 4.0,
        _ if transcendental => 2.0,
        _ => 0.0,
    }
}

#[test]
fn unary_operations() {
    macro_rules! every_dtype {
        ($op:ty: $dtype:expr, $tokens:expr) => {
            match $dtype {
                "bool" => <Case<$op, bool>>::unary($tokens),
                "u8" => <Case<$op, u8>>::unary($tokens),
                "i8" => <Case<$op, i8>>::unary($tokens),
                "i16" => <Case<$op, i16>>::unary($tokens),
                "i32" => <Case<$op, i32>>::unary($tokens),
                "i64" => <Case<$op, i64>>::unary($tokens),
                "f16" => <Case<$op, f16>>::unary($tokens),
                "bf16" => <Case<$op, bf16>>::unary($tokens),
                "f32" => <Case<$op, f32>>::unary($tokens),
                "f64" => <Case<$op, f64>>::unary($tokens),
                "c32" => <Case<$op, Complex<f16>>>::unary($tokens),
                "c64" => <Case<$op, Complex<f32>>>::unary($tokens),
                "c128" => <Case<$op, Complex<f64>>>::unary($tokens),
                _ => None,
            }
        };
    }
    macro_rules! every_op {
        ($name:expr, $dtype:expr, $tokens:expr; $($op:ident: $($known:literal)|+;)*) => {
            match $name {
                $($($known)|+ => every_dtype!(ops::$op: $dtype, $tokens),)*
                _ => return None,
            }
        };
    }
    fn run(name: &str, dtype: &str, tokens: &str) -> Option<Option<Answer>> {
        Some(every_op! { name, dtype, tokens;
            abs: "abs"; neg: "neg"; sign: "sign"; square: "square"; exp: "exp"; log: "log"; sqrt: "sqrt"; rsqrt: "rsqrt";
            reciprocal: "reciprocal"; sin: "sin"; cos: "cos"; tan: "tan"; tanh: "tanh"; sigmoid: "sigmoid"; erf: "erf";
            relu: "relu"; gelu: "F_gelu"; gelu_tanh: "gelu_tanh"; silu: "F_silu"; floor: "floor"; ceil: "ceil";
            round: "round"; trunc: "trunc"; conj: "conj_physical"; angle: "angle"; logical_not: "logical_not";
            bitwise_not: "bitwise_not"; isnan: "isnan"; isinf: "isinf"; isfinite: "isfinite";
        })
    }
    let table = json("values.json");
    let mut tally = Tally::default();
    for row in table["unary"].as_array().unwrap() {
        let [op, dtype, result, tokens] = [0, 1, 2, 3].map(|i| row[i].as_str().unwrap());
        let Some(answer) = run(op, dtype, table["inputs_unary"][dtype].as_str().unwrap_or("")) else { continue };
        match answer {
            Some(answer) if result != "err" => {
                tally.row(&format!("{op} {dtype}"), &answer, result, tokens, &row[4], tolerance(op, result));
            }
            Some(_) => tally.set_aside("beyond PyTorch"),
            None if crate::common::dtype(dtype).unwrap().is_shell() => {
                tally.set_aside("shell dtypes have no arithmetic")
            }
            None if result == "err" => tally.agree += 1,
            None => tally.disagree.push(format!("{op} {dtype}: refused, PyTorch {result}")),
        }
    }
    tally.finish("unary");
}

/// Calls `$run` for the pair of dtypes with these codes: of the 13 x 13 pairs `all`, `same` for the diagonal, or `some`, 7 x 7 (with
/// `--cfg every_cell` these are all, too).
macro_rules! dispatch {
    ($op:ty, $a:expr, $b:expr, $run:ident $args:tt, same) => {
        dispatch!(@diagonal $op, $a, $run $args;
            "bool" bool, "u8" u8, "i8" i8, "i16" i16, "i32" i32, "i64" i64, "f16" f16, "bf16" bf16, "f32" f32, "f64" f64,
            "c32" Complex<f16>, "c64" Complex<f32>, "c128" Complex<f64>)
    };
    (@diagonal $op:ty, $a:expr, $run:ident $args:tt; $($code:literal $ty:ty),*) => {
        match $a {
            $($code => dispatch!(@call $op, $ty, $ty, $run $args),)*
            _ => None,
        }
    };
    ($op:ty, $a:expr, $b:expr, $run:ident $args:tt, all) => {
        dispatch!(@both $op, $a, $b, $run $args,
            ["bool" bool, "u8" u8, "i8" i8, "i16" i16, "i32" i32, "i64" i64, "f16" f16, "bf16" bf16, "f32" f32, "f64" f64,
            "c32" Complex<f16>, "c64" Complex<f32>, "c128" Complex<f64>])
    };
    ($op:ty, $a:expr, $b:expr, $run:ident $args:tt, some) => {{
        #[cfg(not(every_cell))]
        let answer = dispatch!(@both $op, $a, $b, $run $args,
            ["bool" bool, "u8" u8, "i64" i64, "f16" f16, "bf16" bf16, "f32" f32, "c64" Complex<f32>]);
        #[cfg(every_cell)]
        let answer = dispatch!($op, $a, $b, $run $args, all);
        answer
    }};
    (@both $op:ty, $a:expr, $b:expr, $run:ident $args:tt, $dtypes:tt) => {
        dispatch!(@rows $op, $a, $b, $run $args, $dtypes $dtypes)
    };
    (@rows $op:ty, $a:expr, $b:expr, $run:ident $args:tt, [$($code:literal $ty:ty),*] $dtypes:tt) => {
        match $a {
            $($code => dispatch!(@cells $op, $ty, $b, $run $args, $dtypes),)*
            _ => None,
        }
    };
    (@cells $op:ty, $A:ty, $b:expr, $run:ident $args:tt, [$($code:literal $ty:ty),*]) => {
        match $b {
            $($code => dispatch!(@call $op, $A, $ty, $run $args),)*
            _ => None,
        }
    };
    (@call $op:ty, $A:ty, $B:ty, $run:ident($($arg:expr),*)) => { <Case<$op, $A, $B>>::$run($($arg),*) };
}

#[test]
fn binary_operations_on_one_dtype() {
    macro_rules! every_op {
        ($name:expr, $dtype:expr, $run:ident $args:tt; $($op:ident: $($known:literal)|+;)*) => {
            match $name {
                $($($known)|+ => dispatch!(ops::$op, $dtype, $dtype, $run $args, same),)*
                _ => return None,
            }
        };
    }
    macro_rules! named {
        ($name:expr, $dtype:expr, $run:ident($($arg:expr),*)) => {
            every_op! { $name, $dtype, $run($($arg),*);
                add: "add"; sub: "sub"; mul: "mul"; div: "div"; floor_divide: "floor_divide" | "div_floor";
                trunc_divide: "div_trunc"; remainder: "remainder"; fmod: "fmod"; pow: "pow"; maximum: "maximum";
                minimum: "minimum"; clamp_min: "clamp_min"; clamp_max: "clamp_max"; eq: "eq"; ne: "ne"; lt: "lt"; le: "le";
                gt: "gt"; ge: "ge"; bitwise_and: "bitwise_and"; bitwise_or: "bitwise_or"; bitwise_xor: "bitwise_xor";
                bitwise_left_shift: "bitwise_left_shift" | "op_lshift";
                bitwise_right_shift: "bitwise_right_shift" | "op_rshift";
                logical_and: "logical_and"; logical_or: "logical_or"; logical_xor: "logical_xor";
            }
        };
    }
    fn run(name: &str, dtype: &str, left: &str, right: &str) -> Option<Option<Answer>> {
        Some(named!(name, dtype, binary(left, right)))
    }
    fn each(name: &str, dtype: &str, left: &str, right: &str) -> Option<Option<Vec<Option<Answer>>>> {
        Some(named!(name, dtype, each(left, right)))
    }
    let table = json("values.json");
    let mut tally = Tally::default();
    for row in table["binary"].as_array().unwrap() {
        let [op, dtype, result, tokens] = [0, 1, 2, 3].map(|i| row[i].as_str().unwrap());
        let Some(inputs) = table["inputs_binary"].get(dtype) else { continue };
        let (left, right) = (inputs[0].as_str().unwrap(), inputs[1].as_str().unwrap());
        let what = format!("{op} {dtype}");
        if row.get(5).is_some() {
            // Some elements raise: one by one. (PyTorch is killed by some; here they wrap.)
            let Some(Some(answers)) = each(op, dtype, left, right) else { continue };
            for (at, (answer, want)) in answers.iter().zip(tokens.split_whitespace()).enumerate() {
                match (answer, want) {
                    (_, "E1001") => tally.set_aside("kills PyTorch"),
                    (None, want) if want.starts_with('E') => tally.elements += 1,
                    (Some(answer), want) if answer.agrees(0, want, 0.0) => tally.elements += 1,
                    _ => tally.disagree.push(format!("{what} [{at}]: PyTorch {want}")),
                }
            }
            tally.agree += 1;
            continue;
        }
        match run(op, dtype, left, right) {
            None => {}
            Some(Some(answer)) if result != "err" => {
                tally.row(&what, &answer, result, tokens, &row[4], tolerance(op, result));
            }
            Some(Some(_)) => tally.set_aside("beyond PyTorch"),
            Some(None) if crate::common::dtype(dtype).unwrap().is_shell() => {
                tally.set_aside("shell dtypes have no arithmetic")
            }
            Some(None) if result == "err" => tally.agree += 1,
            Some(None) => tally.disagree.push(format!("{what}: refused, PyTorch {result}")),
        }
    }
    tally.finish("binary");
}

/// Whether a pair of dtypes is among the `some` that are compiled for each operation.
fn is_among_some(a: &str, b: &str) -> bool {
    cfg!(every_cell) || [a, b].iter().all(|dtype| ["bool", "u8", "i64", "f16", "bf16", "f32", "c64"].contains(dtype))
}

/// The rows of a table of operand pairs. The operations `with_all` are compiled for every pair of dtypes, the others for some.
fn mixed(section: &str, with_all: &[&str], run: impl Fn(&str, &str, &str, &str, &str) -> Option<Option<Answer>>) {
    let table = json("values.json");
    let mut tally = Tally::default();
    for row in table[section].as_array().unwrap() {
        let [op, dtypes, result, tokens] = [0, 1, 2, 3].map(|i| row[i].as_str().unwrap());
        let (a, b) = dtypes.split_once(',').unwrap();
        let inputs = &table["inputs_mixed"];
        // a zero-dim operand is taken from the tokens used on the left
        let right = if section == "mixed_z" { 0 } else { 1 };
        let (Some(left), Some(right)) = (inputs[a][0].as_str(), inputs[b][right].as_str()) else { continue };
        if !with_all.contains(&op) && !is_among_some(a, b) {
            tally.set_aside("pairs of dtypes that are compiled with `--cfg every_cell`");
            continue;
        }
        match run(op, a, b, left, right) {
            None => {}
            Some(Some(answer)) if result != "err" => {
                tally.row(&format!("{op} {dtypes}"), &answer, result, tokens, &row[4], tolerance(op, result));
            }
            Some(Some(_)) => tally.set_aside("beyond PyTorch"),
            Some(None) if [a, b].iter().any(|dtype| crate::common::dtype(dtype).unwrap().is_shell()) => {
                tally.set_aside("shell dtypes have no arithmetic");
            }
            Some(None) if result == "err" || tokens.split_whitespace().any(|token| token.starts_with('E')) => {
                tally.agree += 1;
            }
            Some(None) => tally.disagree.push(format!("{op} {dtypes}: refused, PyTorch {result}")),
        }
    }
    tally.finish(section);
}

#[test]
fn binary_operations_on_two_dtypes() {
    macro_rules! every_op {
        ($name:expr, $a:expr, $b:expr, $run:ident $args:tt; $($op:ident: $known:literal $pairs:ident;)*) => {
            match $name {
                $($known => dispatch!(ops::$op, $a, $b, $run $args, $pairs),)*
                _ => return None,
            }
        };
    }
    mixed("mixed", &["add", "div", "lt"], |name, a, b, left, right| {
        Some(every_op! { name, a, b, binary(left, right);
            add: "add" all; sub: "sub" some; mul: "mul" some; div: "div" all; pow: "pow" some;
            remainder: "remainder" some; floor_divide: "floor_divide" some; fmod: "fmod" some; eq: "eq" some; lt: "lt" all;
            maximum: "maximum" some; bitwise_and: "bitwise_and" some; bitwise_left_shift: "bitwise_left_shift" some;
            logical_and: "logical_and" some; atan2: "atan2" some; copysign: "copysign" some; ldexp: "ldexp" some;
        })
    });
}

#[test]
fn binary_operations_with_a_zero_dim_operand() {
    macro_rules! every_op {
        ($name:expr, $a:expr, $b:expr, $run:ident $args:tt; $($op:ident: $known:literal $pairs:ident;)*) => {
            match $name {
                $($known => dispatch!(ops::$op, $a, $b, $run $args, $pairs),)*
                _ => return None,
            }
        };
    }
    mixed("mixed_z", &["add"], |name, a, b, left, right| {
        Some(every_op! { name, a, b, with_zero_dim(left, right);
            add: "add" all; mul: "mul" some; div: "div" some; pow: "pow" some; lt: "lt" some;
        })
    });
}

#[test]
fn conversions() {
    macro_rules! all {
        ($a:expr, $b:expr, $tokens:expr; $($code:literal $ty:ty),*) => {
            match $a {
                $($code => all!(@to $ty, $b, $tokens;
                    "bool" bool, "u8" u8, "i8" i8, "i16" i16, "i32" i32, "i64" i64, "f16" f16, "bf16" bf16, "f32" f32,
                    "f64" f64, "c32" Complex<f16>, "c64" Complex<f32>, "c128" Complex<f64>, "u16" u16, "u32" u32,
                    "u64" u64, "f8e4m3fn" F8E4M3FN, "f8e4m3fnuz" F8E4M3FNUZ, "f8e5m2" F8E5M2, "f8e5m2fnuz" F8E5M2FNUZ,
                    "f8e8m0fnu" F8E8M0FNU, "f4e2m1x2" F4E2M1FNX2),)*
                _ => None,
            }
        };
        (@to $A:ty, $b:expr, $tokens:expr; $($code:literal $ty:ty),*) => {
            match $b {
                $($code => <Case<(), $A, $ty>>::cast($tokens),)*
                _ => None,
            }
        };
    }
    let table = json("values.json");
    let mut tally = Tally::default();
    for row in table["cast"].as_array().unwrap() {
        let [from, to, result, tokens] = [0, 1, 2, 3].map(|i| row[i].as_str().unwrap());
        let inputs = table["inputs_unary"][from].as_str().unwrap();
        let answer = all!(from, to, inputs;
            "bool" bool, "u8" u8, "i8" i8, "i16" i16, "i32" i32, "i64" i64, "f16" f16, "bf16" bf16, "f32" f32, "f64" f64,
            "c32" Complex<f16>, "c64" Complex<f32>, "c128" Complex<f64>, "u16" u16, "u32" u32, "u64" u64,
            "f8e4m3fn" F8E4M3FN, "f8e4m3fnuz" F8E4M3FNUZ, "f8e5m2" F8E5M2, "f8e5m2fnuz" F8E5M2FNUZ, "f8e8m0fnu" F8E8M0FNU,
            "f4e2m1x2" F4E2M1FNX2);
        match answer {
            Some(answer) => tally.row(&format!("{from} to {to}"), &answer, result, tokens, &row[4], 0.0),
            None if result == "err" => tally.agree += 1,
            None => tally.disagree.push(format!("{from} to {to}: refused, PyTorch {result}")),
        }
    }
    tally.finish("cast");
}

#[test]
fn dtype_codes_are_known() {
    assert_eq!(code(<Complex<f16> as Element>::DTYPE), "c32");
}
