//! Reductions and scans compared with PyTorch's table: every dtype, over ordinary values, NaN, infinities, signed zeros, large values,
//! small values together with a large one, one element and none.

use crate::common::{Answer, Tally, Token, json, parse_all};
use castiron::ops;
use castiron::ops::admit::{FloatFor, InexactFor, NumericFor, OrderedFor, RealFor, SameDtypeFor};
use castiron::{Complex, Dtype, Dyn, Tensor, axis, bf16, f16};
use std::marker::PhantomData;

type Vector<E> = Tensor<E, (Dyn,)>;
type Answers = castiron::Result<Vec<Answer>>;

/// A case that may not exist: the inherent function shadows the trait's where the bounds hold.
struct Case<Op, E>(PhantomData<(Op, E)>);
trait Refused {
    fn run(_: &str) -> Option<Answers> {
        None
    }
}
impl<Op, E> Refused for Case<Op, E> {}

fn one<E: Token, S: castiron::Shape>(result: castiron::Result<Tensor<E, S>>) -> Answers {
    Ok(vec![Answer::new(result?.to_vec())])
}

/// Cases by what they ask of the dtype.
macro_rules! cases {
    ($($case:ident [$($bound:tt)*] |$x:ident| $run:expr;)*) => {
        mod case { $(pub struct $case;)* }
        $(impl<E: Token + $($bound)*> Case<case::$case, E> {
            fn run(tokens: &str) -> Option<Answers> {
                let $x: Vector<E> = parse_all::<E>(tokens).into();
                Some($run)
            }
        })*
    };
}
cases! {
    Sum [Dtype<Sum: Token>] |x| one(x.try_sum());
    Prod [Dtype<Sum: Token>] |x| one(x.try_prod());
    Mean [InexactFor<ops::reduce::mean>] |x| one(x.try_mean());
    Var [InexactFor<ops::reduce::var> + Dtype<RealDtype: Token>] |x| one(x.try_var(1));
    Std [InexactFor<ops::reduce::std> + Dtype<RealDtype: Token>] |x| one(x.try_std(1));
    StdCorr0 [InexactFor<ops::reduce::std> + Dtype<RealDtype: Token>] |x| one(x.try_std(0));
    Max [OrderedFor<ops::reduce::max>] |x| one(x.try_max());
    Min [OrderedFor<ops::reduce::min>] |x| one(x.try_min());
    Amax [OrderedFor<ops::reduce::amax>] |x| one(x.try_amax());
    Amin [OrderedFor<ops::reduce::amin>] |x| one(x.try_amin());
    Argmax [RealFor<ops::reduce::argmax>] |x| one(x.try_argmax());
    Argmin [RealFor<ops::reduce::argmin>] |x| one(x.try_argmin());
    MaxDim0 [OrderedFor<ops::reduce::max>] |x| both(x.try_max_axis(axis![0]));
    MinDim0 [OrderedFor<ops::reduce::min>] |x| both(x.try_min_axis(axis![0]));
    Any [Dtype] |x| one(x.try_any());
    All [Dtype] |x| one(x.try_all());
    Cumsum [Dtype<Sum: Token>] |x| one(x.try_cumsum(axis![0]));
    Softmax [FloatFor<ops::scan::softmax>] |x| one(x.try_softmax(axis![0]));
    LogSoftmax [FloatFor<ops::scan::log_softmax>] |x| one(x.try_log_softmax(axis![0]));
    Logsumexp [Dtype<Inexact: Token>] |x| one(x.try_logsumexp(axis![0]));
    Dot [NumericFor<ops::reduce::matmul> + SameDtypeFor<E, ops::reduce::matmul>] |x| one(x.try_matmul(&x));
    Mm [NumericFor<ops::reduce::matmul> + SameDtypeFor<E, ops::reduce::matmul>] |x|
        one(x.unsqueeze(axis![0]).try_matmul(x.unsqueeze(axis![1])));
}
fn both<E: Token>(result: castiron::Result<(Tensor<E, ()>, Tensor<i64, ()>)>) -> Answers {
    let (values, indices) = result?;
    Ok(vec![Answer::new(values.to_vec()), Answer::new(indices.to_vec())])
}

/// `None`: not a reduction of ours; `Some(None)`: refused by the compiler.
fn run(name: &str, dtype: &str, tokens: &str) -> Option<Option<Answers>> {
    macro_rules! every_case {
        ($($case:ident: $name:literal;)*) => {
            match name {
                $($name => every_dtype!($case; "bool" bool, "u8" u8, "i8" i8, "i16" i16, "i32" i32, "i64" i64, "f16" f16,
                    "bf16" bf16, "f32" f32, "f64" f64, "c32" Complex<f16>, "c64" Complex<f32>, "c128" Complex<f64>),)*
                _ => return None,
            }
        };
    }
    macro_rules! every_dtype {
        ($case:ident; $($code:literal $E:ty),*) => {
            match dtype {
                $($code => <Case<case::$case, $E>>::run(tokens),)*
                _ => None,
            }
        };
    }
    Some(every_case! {
        Sum: "sum"; Prod: "prod"; Mean: "mean"; Var: "var"; Std: "std"; StdCorr0: "std_corr0"; Max: "max"; Min: "min";
        Amax: "amax"; Amin: "amin"; Argmax: "argmax"; Argmin: "argmin"; MaxDim0: "max_dim0"; MinDim0: "min_dim0"; Any: "any";
        All: "all"; Cumsum: "cumsum_dim0"; Softmax: "softmax_dim0"; LogSoftmax: "log_softmax_dim0";
        Logsumexp: "logsumexp_dim0"; Dot: "dot_self"; Mm: "mm";
    })
}

/// How far results may be from PyTorch's, in units in the last place: what is added is added in another order.
fn tolerance(op: &str) -> f64 {
    match op {
        // PyTorch's are up to 3 from the exact ones.
        "softmax_dim0" | "log_softmax_dim0" => 5.0,
        "logsumexp_dim0" => 2.0,
        "sum" | "mean" | "prod" | "mm" | "dot_self" | "std" | "std_corr0" | "var" => 4.0,
        _ => 0.0,
    }
}

#[test]
fn reductions_and_scans() {
    let table = json("values.json");
    let mut tally = Tally::default();
    for row in table["reduction"].as_array().unwrap() {
        let [op, operands, results, tokens] = [0, 1, 2, 3].map(|i| row[i].as_str().unwrap());
        let (dtype, _) = operands.split_once(',').unwrap();
        let input = table["inputs_reduction"][operands].as_str().unwrap();
        let Some(answer) = run(op, dtype, input) else { continue };
        let what = format!("{op} {operands}");
        match answer {
            None | Some(Err(_)) if results == "err" => tally.agree += 1,
            None if operands.ends_with(",e") && (op.contains("softmax") || op == "mm") => {
                tally.set_aside("of no elements PyTorch admits any dtype")
            }
            None if crate::common::dtype(dtype).unwrap().is_shell() => {
                tally.set_aside("shell dtypes have no arithmetic")
            }
            Some(Ok(_)) if results == "err" && ["c32", "f16", "bf16"].contains(&dtype) => {
                tally.set_aside("beyond PyTorch")
            }
            Some(Ok(answers)) if results != "err" => {
                for ((answer, dtype), tokens) in answers.iter().zip(results.split('/')).zip(tokens.split('|')) {
                    if (op == "any" || op == "all") && dtype == "u8" {
                        let bool_tokens = tokens.trim();
                        tally.row(&what, answer, "bool", bool_tokens, &row[4], 0.0);
                    } else {
                        tally.row(&what, answer, dtype, tokens, &row[4], tolerance(op));
                    }
                }
            }
            None => tally.disagree.push(format!("{what}: refused by the compiler, PyTorch {results} {tokens}")),
            Some(Err(error)) => tally.disagree.push(format!("{what}: {error}, PyTorch {results} {tokens}")),
            Some(Ok(answer)) => tally.disagree.push(format!("{what}: got {}, PyTorch {tokens}", answer[0].show(0))),
        }
    }
    tally.finish("reduction");
}
