//! Tensors with scalars, compared with PyTorch's table of Python numbers: every dtype with a bool, small and large integers, floats, NaN
//! and an imaginary number.

use crate::common::{Answer, Tally, Token, json, parse_all};
use castiron::dtype::Castable;
use castiron::ops;
use castiron::{Admits, Complex, Dtype, Dyn, Outcome, Scalar, ScalarValue, Tensor, bf16, f16};
use std::marker::PhantomData;

type Vector<E> = Tensor<E, (Dyn,)>;

/// A case that may not exist: the inherent function shadows the trait's where the bounds hold.
struct Case<Op, E, V>(PhantomData<(Op, E, V)>);
trait Refused<V> {
    fn run(_: &str, _: V) -> Option<castiron::Result<Answer>> {
        None
    }
}
impl<Op, E, V> Refused<V> for Case<Op, E, V> {}

/// Operations the tables name, as markers.
mod case {
    pub struct Add;
    pub struct Rsub;
    pub struct Mul;
    pub struct Div;
    pub struct Rdiv;
    pub struct Rem;
    pub struct And;
    pub struct Shl;
    pub struct Shr;
    pub struct AddAssign;
    pub struct Fill;
    pub struct Where;
    pub struct MaximumZeroDim;
    pub struct Rpow;
    pub struct FloorDivide;
    pub struct Pow;
    pub struct Eq;
    pub struct Lt;
    pub struct Gt;
    pub struct ClampMin;
    pub struct Fmod;
}

/// Panics of the plain form become errors.
fn caught<T>(run: impl FnOnce() -> T + std::panic::UnwindSafe) -> castiron::Result<T> {
    std::panic::catch_unwind(run).map_err(|panic| castiron::Error::InvalidArgument {
        op: "test",
        reason: panic.downcast_ref::<String>().cloned().unwrap_or_default(),
    })
}

/// Cases by operator: the plain form, its panic caught.
macro_rules! operators {
    ($($case:ident: $trait:ident, |$x:ident, $v:ident| $run:expr;)*) => {$(
        impl<E: Token + Dtype, V: Scalar + std::panic::UnwindSafe, O: Token, S: castiron::Shape> Case<case::$case, E, V>
        where
            for<'a> &'a Vector<E>: core::ops::$trait<V, Output = Tensor<O, S>>,
        {
            fn run(tokens: &str, $v: V) -> Option<castiron::Result<Answer>> {
                let $x: &Vector<E> = &parse_all::<E>(tokens).into();
                let $x = std::panic::AssertUnwindSafe($x);
                Some(caught(move || { let $x = *$x; Answer::new($run.to_vec()) }))
            }
        }
    )*};
}
operators! {
    Add: Add, |x, v| x + v;
    Mul: Mul, |x, v| x * v;
    Div: Div, |x, v| x / v;
    Rem: Rem, |x, v| x % v;
    And: BitAnd, |x, v| x & v;
    Shl: Shl, |x, v| x << v;
    Shr: Shr, |x, v| x >> v;
}
macro_rules! reversed {
    ($($case:ident: $trait:ident, |$x:ident, $v:ident| $run:expr;)*) => {$(
        impl<E: Token + Dtype, V: Scalar + std::panic::UnwindSafe, O: Token, S: castiron::Shape> Case<case::$case, E, V>
        where
            for<'a> V: core::ops::$trait<&'a Vector<E>, Output = Tensor<O, S>>,
        {
            fn run(tokens: &str, $v: V) -> Option<castiron::Result<Answer>> {
                let $x: &Vector<E> = &parse_all::<E>(tokens).into();
                let $x = std::panic::AssertUnwindSafe($x);
                Some(caught(move || { let $x = *$x; Answer::new($run.to_vec()) }))
            }
        }
    )*};
}
reversed! {
    Rsub: Sub, |x, v| v - x;
    Rdiv: Div, |x, v| v / x;
}
/// Cases by method: the `try_` form.
macro_rules! methods {
    ($($case:ident: $op:ident $try:ident;)*) => {$(
        impl<E: Token + Dtype, V: Scalar> Case<case::$case, E, V>
        where
            ops::$op: Admits<E, V::Counts, castiron::dtype::scalar::ScalarKind>,
            Outcome<ops::$op, E, (Dyn,), V>: Token,
        {
            fn run(tokens: &str, v: V) -> Option<castiron::Result<Answer>> {
                let x: Vector<E> = parse_all::<E>(tokens).into();
                Some(x.$try(v).map(|result| Answer::new(result.to_vec())))
            }
        }
    )*};
}
methods! {
    FloorDivide: floor_divide try_floor_divide;
    Pow: pow try_pow;
    Eq: eq try_eq;
    Lt: lt try_lt;
    Gt: gt try_gt;
    ClampMin: clamp_min try_clamp_min;
    Fmod: fmod try_fmod;
}
// rustc does not count bounds as uses.
#[allow(dead_code)]
type First<E, V> = castiron::dtype::promote::ResultType<
    castiron::dtype::scalar::ScalarKind,
    <V as Scalar>::Counts,
    castiron::dtype::scalar::Dimensioned,
    E,
>;
// rustc does not count bounds as uses.
#[allow(dead_code)]
type Left<E, V> = castiron::dtype::promote::ResultType<
    castiron::dtype::scalar::Dimensioned,
    E,
    castiron::dtype::scalar::ScalarKind,
    <V as Scalar>::Counts,
>;
impl<E: Token + Dtype, V: Scalar> Case<case::Rpow, E, V>
where
    ops::pow: Admits<V::Counts, E, castiron::dtype::scalar::Dimensioned>,
    Left<E, V>: Token,
{
    fn run(tokens: &str, v: V) -> Option<castiron::Result<Answer>> {
        let x: Vector<E> = parse_all::<E>(tokens).into();
        Some(x.try_rpow(v).map(|result| Answer::new(result.to_vec())))
    }
}
impl<E: Token + Dtype, V: Scalar> Case<case::AddAssign, E, V>
where
    Outcome<ops::add, E, (Dyn,), V>: castiron::CanCast<E>,
{
    fn run(tokens: &str, v: V) -> Option<castiron::Result<Answer>> {
        let mut x: Vector<E> = parse_all::<E>(tokens).into();
        let before = x.clone();
        Some(match x.try_add_(v) {
            Ok(_) => Ok(Answer::new(x.to_vec())),
            Err(error) => {
                assert!(x.to_vec().iter().zip(before.to_vec()).all(|(a, b)| a.bits() == b.bits()), "partly written");
                Err(error)
            }
        })
    }
}
impl<E: Token + Castable, V: Scalar> Case<case::Fill, E, V> {
    fn run(tokens: &str, v: V) -> Option<castiron::Result<Answer>> {
        let mut x: Vector<E> = parse_all::<E>(tokens).into();
        Some(x.try_fill(v).map(|()| Answer::new(x.to_vec())))
    }
}
impl<E: Token + Dtype, V: Scalar> Case<case::Where, E, V>
where
    First<E, V>: Token,
{
    fn run(tokens: &str, v: V) -> Option<castiron::Result<Answer>> {
        let x: Vector<E> = parse_all::<E>(tokens).into();
        // NaN is not equal to itself
        let mask = x.eq(&x);
        Some(castiron::try_where_(&mask, v, &x).map(|result| Answer::new(result.to_vec())))
    }
}
impl<E: Token + Dtype, V: Scalar> Case<case::MaximumZeroDim, E, V>
where
    ops::maximum: Admits<E, V::Counts, castiron::dtype::scalar::ZeroDim>,
    Outcome<ops::maximum, E, (Dyn,), &'static Tensor<V::Counts, ()>>: Token,
{
    fn run(tokens: &str, v: V) -> Option<castiron::Result<Answer>> {
        let x: Vector<E> = parse_all::<E>(tokens).into();
        let zero_dim = match Tensor::<V::Counts, ()>::try_full(v) {
            Ok(zero_dim) => zero_dim,
            Err(error) => return Some(Err(error)),
        };
        Some(x.try_maximum(&zero_dim).map(|result| Answer::new(result.to_vec())))
    }
}

/// The Python number that a column stands for, passed to a function generic over its type.
macro_rules! with_scalar {
    ($case:ty, $E:ty, $scalar:expr, $tokens:expr) => {
        match $scalar {
            "True" => <Case<$case, $E, bool>>::run($tokens, true),
            "0" => <Case<$case, $E, i64>>::run($tokens, 0),
            "2" => <Case<$case, $E, i64>>::run($tokens, 2),
            "-1" => <Case<$case, $E, i64>>::run($tokens, -1),
            "300" => <Case<$case, $E, i64>>::run($tokens, 300),
            "-129" => <Case<$case, $E, i64>>::run($tokens, -129),
            "2**40" => <Case<$case, $E, i64>>::run($tokens, 1 << 40),
            "2**63" => <Case<$case, $E, u64>>::run($tokens, 1 << 63),
            "0.5" => <Case<$case, $E, f64>>::run($tokens, 0.5),
            "-1.5" => <Case<$case, $E, f64>>::run($tokens, -1.5),
            "1e10" => <Case<$case, $E, f64>>::run($tokens, 1e10),
            "nan" => <Case<$case, $E, f64>>::run($tokens, f64::NAN),
            "1j" => <Case<$case, $E, Complex<f64>>>::run($tokens, Complex::new(0.0, 1.0)),
            other => panic!("unknown scalar {other}"),
        }
    };
}
macro_rules! every_dtype {
    ($case:ty, $dtype:expr, $scalar:expr, $tokens:expr; $($code:literal $E:ty),*) => {
        match $dtype {
            $($code => with_scalar!($case, $E, $scalar, $tokens),)*
            _ => None,
        }
    };
}

/// `None`: not an operation of ours; `Some(None)`: refused by the compiler.
fn run(name: &str, dtype: &str, scalar: &str, tokens: &str) -> Option<Option<castiron::Result<Answer>>> {
    macro_rules! every_case {
        ($($case:ident: $name:literal;)*) => {
            match name {
                $($name => every_dtype!(case::$case, dtype, scalar, tokens;
                    "bool" bool, "u8" u8, "i8" i8, "i16" i16, "i32" i32, "i64" i64, "f16" f16, "bf16" bf16, "f32" f32,
                    "f64" f64, "c32" Complex<f16>, "c64" Complex<f32>, "c128" Complex<f64>),)*
                "fill" => every_dtype!(case::Fill, dtype, scalar, tokens;
                    "bool" bool, "u8" u8, "i8" i8, "i16" i16, "i32" i32, "i64" i64, "f16" f16, "bf16" bf16, "f32" f32,
                    "f64" f64, "c32" Complex<f16>, "c64" Complex<f32>, "c128" Complex<f64>, "u16" u16, "u32" u32,
                    "u64" u64, "f8e4m3fn" castiron::F8E4M3FN, "f8e4m3fnuz" castiron::F8E4M3FNUZ,
                    "f8e5m2" castiron::F8E5M2, "f8e5m2fnuz" castiron::F8E5M2FNUZ, "f8e8m0fnu" castiron::F8E8M0FNU),
                _ => return None,
            }
        };
    }
    Some(every_case! {
        Add: "add"; Rsub: "rsub"; Mul: "mul"; Div: "truediv"; Rdiv: "rtruediv"; FloorDivide: "floordiv"; Rem: "mod";
        Pow: "pow"; Rpow: "rpow"; Eq: "eq"; Lt: "lt"; Gt: "gt"; And: "and"; Shl: "lshift"; Shr: "rshift";
        ClampMin: "clamp_min"; AddAssign: "iadd"; Fmod: "fmod"; Where: "where"; MaximumZeroDim: "maximum_tensor0d";
    })
}

/// Whether an integer scalar is outside the range that PyTorch's `full` takes for the dtype computed in.
fn out_of_range(scalar: &str, result: &str, dtype: &str) -> bool {
    let value = match scalar {
        "300" => 300,
        "-129" => -129,
        "2**40" => 1 << 40,
        "2**63" => 1 << 63,
        _ => return false,
    };
    // comparisons compute in the tensor's dtype
    let computes = if result == "bool" { dtype } else { result };
    match computes {
        "u8" => ScalarValue::Int(value).to_dtype::<u8>().is_none(),
        "i8" => ScalarValue::Int(value).to_dtype::<i8>().is_none(),
        "i16" => ScalarValue::Int(value).to_dtype::<i16>().is_none(),
        "i32" => ScalarValue::Int(value).to_dtype::<i32>().is_none(),
        "i64" | "bool" => ScalarValue::Int(value).to_dtype::<i64>().is_none(),
        _ => false,
    }
}

fn tolerance(op: &str, dtype: &str) -> f64 {
    match op {
        "pow" | "rpow" if dtype.starts_with('c') => 128.0,
        "pow" | "rpow" if dtype.starts_with('f') || dtype.starts_with('b') => 2.0,
        "mul" | "truediv" | "rtruediv" if dtype.starts_with('c') => 2.0,
        _ => 0.0,
    }
}

#[test]
fn scalars_on_either_side() {
    std::panic::set_hook(Box::new(|_| {}));
    let table = json("values.json");
    let mut tally = Tally::default();
    for row in table["scalar"].as_array().unwrap() {
        let [op, operands, result, tokens] = [0, 1, 2, 3].map(|i| row[i].as_str().unwrap());
        let (dtype, scalar) = operands.split_once(',').unwrap();
        let Some(inputs) = table["inputs_mixed"].get(dtype) else { continue };
        let Some(answer) = run(op, dtype, scalar, inputs[0].as_str().unwrap()) else { continue };
        let what = format!("{op} {operands}");
        // The whole vector raised (single elements may not, in PyTorch).
        let fails =
            result == "err" || tokens.split_whitespace().any(|token| token.starts_with('E')) || row.get(5).is_some();
        match answer {
            Some(Ok(answer)) if !fails => {
                tally.row(&what, &answer, result, tokens, &row[4], tolerance(op, result));
            }
            Some(Ok(_)) if ["c32", "f16", "bf16"].contains(&dtype) => tally.set_aside("beyond PyTorch"),
            Some(Ok(answer)) => tally.disagree.push(format!("{what}: got {}, PyTorch {tokens}", answer.show(0))),
            _ if fails => tally.agree += 1,
            None if crate::common::dtype(dtype).unwrap().is_shell() => {
                tally.set_aside("shell dtypes have no arithmetic")
            }
            Some(Err(_)) if out_of_range(scalar, result, dtype) => {
                tally.set_aside("integer scalars out of range are refused")
            }
            Some(Err(error)) => tally.disagree.push(format!("{what}: {error}, PyTorch {result} {tokens}")),
            None => tally.disagree.push(format!("{what}: refused by the compiler, PyTorch {result} {tokens}")),
        }
    }
    let _ = std::panic::take_hook();
    tally.finish("scalar");
}

#[test]
fn scalars_count_by_category_alone() {
    use castiron::tensor;
    let counts = tensor![1, 2; i32];
    let _: Tensor<i32, castiron::shape![2]> = &counts + 1_i64;
    let _: Tensor<i32, castiron::shape![2]> = &counts + 1_usize;
    let _: Tensor<f32, castiron::shape![2]> = &counts + 1.0_f64;
    let _: Tensor<f32, castiron::shape![2]> = &counts + f16::ONE;
    let _: Tensor<bf16, castiron::shape![2]> = counts.to::<bf16>() + 1.0_f64;
    let _: Tensor<Complex<f16>, castiron::shape![2]> = counts.to::<f16>() * Complex::new(0.0, 1.0_f64);
    let _: Tensor<i32, castiron::shape![2]> = true + &counts;
}
