//! Products, sums, scans and normalisation compared with PyTorch's table (`sums.json`): every operation over contiguous, transposed and
//! sliced operands, with no or many elements, NaN and infinities; and their types.

use crate::common::{Answer, Tally, Token, Tolerance, json, parse_all};
use castiron::ops::admit::{FloatFor, InexactFor, IntegerFor, NumericFor, OrderedFor, SameDtypeFor};
use castiron::ops::{reduce as op, scan};
use castiron::{Complex, Dtype, Dyn, Shape, Tensor, axis, bf16, shape, tensor};
use serde_json::Value;
use std::marker::PhantomData;

type One<E> = Tensor<E, (Dyn,)>;
type Two<E> = Tensor<E, (Dyn, Dyn)>;
type Three<E> = Tensor<E, (Dyn, Dyn, Dyn)>;
/// The shapes and elements of results.
type Answers = castiron::Result<Vec<(Vec<usize>, Answer)>>;

/// The operands and parameters of a row.
struct Given<'a>(&'a Value);
impl Given<'_> {
    fn number(&self, at: usize) -> f64 {
        let number = &self.0[2][at];
        number.as_f64().unwrap_or_else(|| number.as_str().unwrap().parse().unwrap())
    }
    fn integer(&self, at: usize) -> i64 {
        self.number(at) as i64
    }
    fn sizes(&self, at: usize) -> Vec<usize> {
        self.0[3][at][1].as_array().unwrap().iter().map(|size| size.as_u64().unwrap() as usize).collect()
    }
    fn tokens(&self, at: usize) -> &str {
        self.0[3][at][2].as_str().unwrap()
    }
    fn layout(&self, at: usize) -> &str {
        self.0[3][at][3].as_str().unwrap()
    }
    fn number_of<E: Token>(&self, at: usize) -> Tensor<E, ()> {
        Tensor::scalar(parse_all::<E>(self.tokens(at))[0])
    }
    fn one<E: Token>(&self, at: usize) -> One<E> {
        parse_all::<E>(self.tokens(at)).into()
    }
    fn two<E: Token>(&self, at: usize) -> Two<E> {
        let sizes = self.sizes(at);
        let x: Two<E> = self.one::<E>(at).reshape_sized([sizes[0], sizes[1]]);
        match self.layout(at) {
            "t" => x.t::<(Dyn, Dyn)>().contiguous().t(),
            "s" => {
                let mut wider: Vec<E> = Vec::new();
                for row in parse_all::<E>(self.tokens(at)).chunks(sizes[1]) {
                    wider.push(E::default());
                    wider.extend(row);
                }
                let wider: One<E> = wider.into();
                let wider: Two<E> = wider.reshape_sized([sizes[0], sizes[1] + 1]);
                wider.narrow(axis![1], 1, sizes[1])
            }
            _ => x,
        }
    }
    fn three<E: Token>(&self, at: usize) -> Three<E> {
        let sizes = self.sizes(at);
        let x: Three<E> = self.one::<E>(at).reshape_sized([sizes[0], sizes[1], sizes[2]]);
        match self.layout(at) {
            "t" => x.transpose(axis![0], axis![2]).contiguous().transpose(axis![0], axis![2]),
            _ => x,
        }
    }
}

/// A case that may not exist: the inherent function shadows the trait's where the bounds hold.
struct Case<Op, E>(PhantomData<(Op, E)>);
trait Refused {
    fn run(_: &Given) -> Option<Answers> {
        None
    }
}
impl<Op, E> Refused for Case<Op, E> {}

fn answer<E: Token, S: Shape>(result: &Tensor<E, S>) -> (Vec<usize>, Answer) {
    (result.shape().as_ref().to_vec(), Answer::new(result.to_vec()))
}
fn one<E: Token, S: Shape>(result: castiron::Result<Tensor<E, S>>) -> Answers {
    Ok(vec![answer(&result?)])
}
fn both<E: Token, F: Token, S: Shape>(result: castiron::Result<(Tensor<E, S>, Tensor<F, S>)>) -> Answers {
    let (first, second) = result?;
    Ok(vec![answer(&first), answer(&second)])
}

/// Cases by what they ask of the dtype; `run(name, dtype, row)` finds one. `None`: no such case; `Some(None)`: refused by the
/// compiler.
macro_rules! cases {
    ($($name:ident [$($bound:tt)*] |$x:ident| $run:expr;)*) => {
        mod case { $(#[allow(non_camel_case_types)] pub struct $name;)* }
        $(impl<E: Token + $($bound)*> Case<case::$name, E> {
            fn run($x: &Given) -> Option<Answers> {
                Some($run)
            }
        })*
        fn run(name: &str, dtype: &str, row: &Given) -> Option<Option<Answers>> {
            Some(match name {
                $(stringify!($name) => match dtype {
                    "bool" => <Case<case::$name, bool>>::run(row),
                    "u8" => <Case<case::$name, u8>>::run(row),
                    "i64" => <Case<case::$name, i64>>::run(row),
                    "bf16" => <Case<case::$name, bf16>>::run(row),
                    "f32" => <Case<case::$name, f32>>::run(row),
                    "f64" => <Case<case::$name, f64>>::run(row),
                    _ => <Case<case::$name, Complex<f32>>>::run(row),
                },)*
                _ => return None,
            })
        }
    };
}
cases! {
    cumprod0 [Dtype<Sum: Token>] |x| one(x.two::<E>(0).try_cumprod(axis![0]));
    cumprod1 [Dtype<Sum: Token>] |x| one(x.two::<E>(0).try_cumprod(axis![-1]));
    cumprod_zero [Dtype<Sum: Token>] |x| one(x.number_of::<E>(0).try_cumprod(axis![0]));
    cummax0 [OrderedFor<scan::cummax>] |x| both(x.two::<E>(0).try_cummax(axis![0]));
    cummax1 [OrderedFor<scan::cummax>] |x| both(x.two::<E>(0).try_cummax(axis![1]));
    cummax_zero [OrderedFor<scan::cummax>] |x| both(x.number_of::<E>(0).try_cummax(axis![0]));
    cummin0 [OrderedFor<scan::cummin>] |x| both(x.two::<E>(0).try_cummin(axis![0]));
    cummin1 [OrderedFor<scan::cummin>] |x| both(x.two::<E>(0).try_cummin(axis![1]));
    cummin_zero [OrderedFor<scan::cummin>] |x| both(x.number_of::<E>(0).try_cummin(axis![0]));
    logcumsumexp0 [InexactFor<scan::logcumsumexp>] |x| one(x.two::<E>(0).try_logcumsumexp(axis![0]));
    logcumsumexp1 [InexactFor<scan::logcumsumexp>] |x| one(x.two::<E>(0).try_logcumsumexp(axis![1]));
    diff0 [Dtype] |x| one(x.two::<E>(0).try_diff(axis![0], x.integer(0) as usize));
    diff1 [Dtype] |x| one(x.two::<E>(0).try_diff(axis![1], x.integer(0) as usize));
    diff_zero [Dtype] |x| one(x.number_of::<E>(0).try_diff(axis![0], 1));

    nansum [OrderedFor<op::nansum> + Dtype<Sum: Token>] |x| one(x.two::<E>(0).try_nansum());
    nansum0 [OrderedFor<op::nansum> + Dtype<Sum: Token>] |x| one(x.two::<E>(0).try_nansum_axis(axis![0]));
    nansum1 [OrderedFor<op::nansum> + Dtype<Sum: Token>] |x| one(x.two::<E>(0).try_nansum_axis(axis![1]));
    nanmean [FloatFor<op::nanmean>] |x| one(x.two::<E>(0).try_nanmean());
    nanmean0 [FloatFor<op::nanmean>] |x| one(x.two::<E>(0).try_nanmean_axis(axis![0]));
    nanmean1 [FloatFor<op::nanmean>] |x| one(x.two::<E>(0).try_nanmean_axis(axis![1]));
    count_nonzero [Dtype] |x| one(x.two::<E>(0).try_count_nonzero());
    count_nonzero0 [Dtype] |x| one(x.two::<E>(0).try_count_nonzero_axis(axis![0]));
    count_nonzero1 [Dtype] |x| one(x.two::<E>(0).try_count_nonzero_axis(axis![1]));
    count_nonzero_zero [Dtype] |x| one(x.number_of::<E>(0).try_count_nonzero());
    aminmax [OrderedFor<op::amin> + OrderedFor<op::amax>] |x| both(x.two::<E>(0).try_aminmax());
    aminmax1 [OrderedFor<op::amin> + OrderedFor<op::amax>] |x| both(x.two::<E>(0).try_aminmax_axis(axis![1].keepdim()));
    var_mean1 [InexactFor<op::var> + InexactFor<op::mean> + Dtype<RealDtype: Token>] |x|
        both(x.two::<E>(0).try_var_mean_axis(axis![1], x.integer(0) as usize));
    std_mean [InexactFor<op::std> + InexactFor<op::mean> + Dtype<RealDtype: Token>] |x|
        both(x.two::<E>(0).try_std_mean(x.integer(0) as usize));
    norm [InexactFor<op::vector_norm> + Dtype<RealDtype: Token>] |x| one(x.two::<E>(0).try_vector_norm(x.number(0)));
    norm0 [InexactFor<op::norm> + Dtype<RealDtype: Token>] |x| one(x.two::<E>(0).try_norm_axis(axis![0], x.number(0)));
    norm1 [InexactFor<op::vector_norm> + Dtype<RealDtype: Token>] |x|
        one(x.two::<E>(0).try_vector_norm_axis(axis![1].keepdim(), x.number(0)));
    norm_zero [InexactFor<op::vector_norm> + Dtype<RealDtype: Token>] |x| one(x.number_of::<E>(0).try_vector_norm(2.0));

    layer_norm [FloatFor<op::layer_norm>] |x| one(x.two::<E>(0).try_layer_norm::<(Dyn,)>(None, None, x.number(0)));
    layer_norm_wb [FloatFor<op::layer_norm>] |x|
        one(x.two::<E>(0).try_layer_norm(Some(&x.one(1)), Some(&x.one(2)), x.number(0)));
    layer_norm_w [FloatFor<op::layer_norm>] |x| one(x.two::<E>(0).try_layer_norm(Some(&x.one(1)), None, x.number(0)));
    layer_norm_b [FloatFor<op::layer_norm>] |x| one(x.two::<E>(0).try_layer_norm(None, Some(&x.one(1)), x.number(0)));
    layer_norm_2 [FloatFor<op::layer_norm>] |x|
        one(x.three::<E>(0).try_layer_norm(Some(&x.two(1)), Some(&x.two(1)), x.number(0)));
    rms_norm [InexactFor<op::rms_norm>] |x| one(x.two::<E>(0).try_rms_norm::<(Dyn,)>(None, None));
    rms_norm_w [InexactFor<op::rms_norm>] |x| one(x.two::<E>(0).try_rms_norm(Some(&x.one(1)), Some(x.number(0))));
    normalize [InexactFor<op::normalize>] |x| one(x.two::<E>(0).try_normalize(axis![1], x.number(0), 1e-12));
    normalize0 [InexactFor<op::normalize>] |x| one(x.two::<E>(0).try_normalize(axis![0], x.number(0), 1e-12));

    mm [NumericFor<op::mm> + SameDtypeFor<E, op::mm>] |x| one(x.two::<E>(0).try_mm(x.two::<E>(1)));
    mv [NumericFor<op::mv> + SameDtypeFor<E, op::mv>] |x| one(x.two::<E>(0).try_mv(x.one::<E>(1)));
    dot [NumericFor<op::dot> + SameDtypeFor<E, op::dot>] |x| one(x.one::<E>(0).try_dot(x.one::<E>(1)));
    bmm [NumericFor<op::bmm> + SameDtypeFor<E, op::bmm>] |x| one(x.three::<E>(0).try_bmm(x.three::<E>(1)));
    vdot [NumericFor<op::vdot> + SameDtypeFor<E, op::vdot>] |x| one(x.one::<E>(0).try_vdot(&x.one::<E>(1)));
    outer [Dtype] |x| one(x.one::<E>(0).try_outer::<E, E, _, _, _>(&x.one::<E>(1)));
    vecdot [InexactFor<op::vecdot> + SameDtypeFor<E, op::vecdot> + Dtype<Sum = E>] |x|
        one(x.two::<E>(0).try_vecdot(&x.one::<E>(1), axis![-1]));
    vecdot0 [InexactFor<op::vecdot> + SameDtypeFor<E, op::vecdot> + Dtype<Sum = E>] |x|
        one(x.two::<E>(0).try_vecdot(&x.two::<E>(1), axis![0]));
    linear [NumericFor<op::linear>] |x| one(x.two::<E>(0).try_linear(&x.two(1), None));
    linear_b [NumericFor<op::linear>] |x| one(x.two::<E>(0).try_linear(&x.two(1), Some(&x.one(2))));
    linear3_b [NumericFor<op::linear>] |x| one(x.three::<E>(0).try_linear(&x.two(1), Some(&x.one(2))));
    linear1 [NumericFor<op::linear>] |x| one(x.one::<E>(0).try_linear(&x.two(1), None));
    addmm [NumericFor<op::addmm>] |x|
        one(x.two::<E>(0).try_addmm(&x.two(1), &x.two(2), x.integer(0), x.integer(1)));
    addmm1 [NumericFor<op::addmm>] |x|
        one(x.one::<E>(0).try_addmm(&x.two(1), &x.two(2), x.integer(0), x.integer(1)));
    addmv [NumericFor<op::addmv>] |x|
        one(x.one::<E>(0).try_addmv(&x.two(1), &x.one(2), x.integer(0), x.integer(1)));
    addr [NumericFor<op::addr>] |x|
        one(x.two::<E>(0).try_addr(&x.one(1), &x.one(2), x.integer(0), x.integer(1)));
    addbmm [NumericFor<op::addbmm>] |x|
        one(x.two::<E>(0).try_addbmm(&x.three(1), &x.three(2), x.integer(0), x.integer(1)));
    baddbmm [NumericFor<op::baddbmm>] |x|
        one(x.three::<E>(0).try_baddbmm(&x.three(1), &x.three(2), x.integer(0), x.integer(1)));
    inner [NumericFor<op::inner> + SameDtypeFor<E, op::inner>] |x| one(x.two::<E>(0).try_inner(&x.two::<E>(1)));
    tensordot [NumericFor<op::tensordot> + SameDtypeFor<E, op::tensordot>] |x|
        one(x.three::<E>(0).try_tensordot(&x.three::<E>(1), axis![2, 1], axis![0, 1]));
    kron [Dtype] |x| one(x.two::<E>(0).try_kron::<E, E, _, _, _>(&x.two::<E>(1)));
    kron1 [Dtype] |x| one(x.one::<E>(0).try_kron::<E, E, _, _, _>(&x.two::<E>(1)));
    multi_dot [NumericFor<op::multi_dot>] |x|
        one(castiron::try_multi_dot::<E, _, _, _>(&[&x.two(0), &x.two(1), &x.two(2)]));
    trapezoid0 [NumericFor<op::trapezoid> + Dtype<Inexact: Token>] |x| one(x.two::<E>(0).try_trapezoid(axis![0], x.number(0)));
    trapezoid1 [NumericFor<op::trapezoid> + Dtype<Inexact: Token>] |x| one(x.two::<E>(0).try_trapezoid(axis![1], x.number(0)));
    trapezoid_x [NumericFor<op::trapezoid> + Dtype<Inexact: Token>] |x|
        one(x.two::<E>(0).try_trapezoid_over(&x.one(1), axis![1]));
    cumulative_trapezoid1 [NumericFor<op::cumulative_trapezoid> + Dtype<Inexact: Token>] |x|
        one(x.two::<E>(0).try_cumulative_trapezoid(axis![1], x.number(0)));
    cumulative_trapezoid_x [NumericFor<op::cumulative_trapezoid> + Dtype<Inexact: Token>] |x|
        one(x.two::<E>(0).try_cumulative_trapezoid_over(&x.one(1), axis![1]));
    dist [InexactFor<op::dist> + SameDtypeFor<E, op::dist> + Dtype<RealDtype: Token>] |x|
        one(x.two::<E>(0).try_dist(&x.one::<E>(1), x.number(0)));
    cdist [FloatFor<op::cdist> + SameDtypeFor<E, op::cdist>] |x|
        one(x.two::<E>(0).try_cdist(&x.two::<E>(1), x.number(0)));
    cross [NumericFor<op::cross> + SameDtypeFor<E, op::cross>] |x|
        one(x.two::<E>(0).try_cross(&x.two::<E>(1), axis![-1]));
    cross0 [NumericFor<op::cross> + SameDtypeFor<E, op::cross>] |x|
        one(x.two::<E>(0).try_cross(&x.two::<E>(1), axis![0]));
    equal [Dtype] |x| one(x.two::<E>(0).try_equal(&x.two::<E>(1)).map(Tensor::<bool, ()>::scalar));
    cov [NumericFor<op::cov> + Dtype<Inexact: Token>] |x| one(x.two::<E>(0).try_cov(1));
    corrcoef [NumericFor<op::corrcoef> + Dtype<Inexact: Token>] |x| one(x.two::<E>(0).try_corrcoef());
    bincount [IntegerFor<op::bincount>] |x| one(x.one::<E>(0).try_bincount(x.integer(0) as usize));
    bincount_i64 [IntegerFor<op::bincount>] |x| one(x.one::<E>(0).try_bincount_weighted(&x.one::<i64>(1), x.integer(0) as usize));
    bincount_f32 [IntegerFor<op::bincount>] |x| one(x.one::<E>(0).try_bincount_weighted(&x.one::<f32>(1), x.integer(0) as usize));
    bincount_bf16 [IntegerFor<op::bincount>] |x| one(x.one::<E>(0).try_bincount_weighted(&x.one::<bf16>(1), x.integer(0) as usize));
    histc [FloatFor<op::histc>] |x| one(x.one::<E>(0).try_histc(x.integer(0) as usize, x.number(1), x.number(2)));
}

/// How far results may be from PyTorch's: what is added is added in another order, and `bf16` is rounded more often there.
fn tolerance(op: &str, dtype: &str) -> Tolerance {
    let exact = ["cummax", "cummin", "diff", "count_nonzero", "aminmax", "outer", "equal", "bincount", "histc"];
    let (ulps, of_one) = if exact.iter().any(|name| op.starts_with(name)) {
        (0.0, 0.0)
    } else if op.starts_with("norm") && op.len() < 6 {
        (32.0, 0.0)
    } else if op.starts_with("layer_norm") {
        (4.0, 16.0)
    } else if op.contains("norm") || op.starts_with("logcumsumexp") {
        (4.0, 2.0)
    } else if dtype == "bf16" && (op.starts_with("add") || op.starts_with("badd") || op.starts_with("linear")) {
        // the product is rounded before the rest is added
        (4.0, 64.0)
    } else {
        (8.0, 8.0)
    };
    Tolerance { ulps, of_one }
}

#[test]
fn results_are_pytorchs() {
    let mut tally = Tally::default();
    for row in json("sums.json")["rows"].as_array().unwrap() {
        let (name, dtype) = (row[0].as_str().unwrap(), row[1].as_str().unwrap());
        let Some(ours) = run(name, dtype, &Given(row)) else { continue };
        let what = format!(
            "{name} {dtype} {} {}",
            row[2],
            row[3].as_array().unwrap().iter().map(|x| format!("{} {}", x[1], x[3])).collect::<Vec<_>>().join(" ")
        );
        match (ours, row[4].as_array()) {
            // PyTorch leaves integers of no elements as they are.
            (Some(Ok(_)), Some(results)) if name == "trapezoid1" && row[3][0][2] == "" && results[0][0] != "f32" => {
                tally.set_aside("a dtype that depends on a size")
            }
            (None | Some(Err(_)), None) => tally.agree += 1,
            (Some(Ok(answers)), Some(results)) => {
                assert_eq!(answers.len(), results.len(), "{what}");
                for ((sizes, answer), result) in answers.iter().zip(results) {
                    let wanted: Vec<usize> =
                        result[1].as_array().unwrap().iter().map(|size| size.as_u64().unwrap() as usize).collect();
                    if *sizes != wanted {
                        tally.disagree.push(format!("{what}: shape {sizes:?}, PyTorch {wanted:?}"));
                    }
                    let dtype = result[0].as_str().unwrap();
                    tally.row(&what, answer, dtype, result[2].as_str().unwrap(), &Value::Null, tolerance(name, dtype));
                }
            }
            (None, Some(results)) if name.ends_with("_zero") || results[0][2] == "" || row[3][0][2] == "" => {
                tally.set_aside("of no elements, or one, PyTorch admits any dtype")
            }
            (None, Some(_)) => tally.disagree.push(format!("{what}: refused by the compiler, PyTorch {}", row[4])),
            (Some(Err(error)), Some(_)) => tally.disagree.push(format!("{what}: {error}, PyTorch {}", row[4])),
            (Some(Ok(_)), None) if dtype == "bf16" || name == "kron1" => tally.set_aside("beyond PyTorch"),
            (Some(Ok(_)), None) => tally.disagree.push(format!("{what}: PyTorch refuses")),
        }
    }
    tally.finish("sums");
}

/// Known sizes are in the types of results.
#[test]
fn types_of_results() {
    castiron::dims! { Batch }
    let x: Tensor<f32, shape![Batch, 3, 4]> = Tensor::ones_sized([2, 3, 4]);
    let (row, square) = (Tensor::<f32, shape![4]>::ones(), Tensor::<f32, shape![5, 4]>::ones());
    let _: Tensor<f32, shape![Batch, 3, 4]> = x.layer_norm(Some(&row), None, 1e-5);
    let _: Tensor<f32, shape![Batch, 3, 4]> = x.layer_norm::<shape![3, 4]>(None, None, 1e-5);
    let _: Tensor<f32, shape![Batch, 3, 4]> = x.rms_norm::<shape![_]>(None, None);
    let _: Tensor<f32, shape![Batch, 3, 5]> = x.linear(&square, None);
    let _: Tensor<f32, shape![Batch, 3, 5]> = x.inner(&square);
    let _: Tensor<f32, shape![Batch, 3, 5]> = x.tensordot(&square, axis![2], axis![-1]);
    let _: Tensor<f32, shape![Batch, 3]> = x.vecdot(&row, axis![-1]);
    let _: Tensor<f32, shape![Batch, 1, 4]> = x.norm_axis(axis![1].keepdim(), 2.0);
    let (counts, _): (Tensor<i64, shape![Batch, 4]>, ()) = (x.count_nonzero_axis(axis![1]), ());
    assert_eq!(counts.to_vec(), [3; 8]);
    let _: (Tensor<f32, shape![Batch, 3, 4]>, Tensor<i64, shape![Batch, 3, 4]>) = x.cummax(axis![1]);
    let _: Tensor<f32, shape![Batch, _, 4]> = x.diff(axis![1], 1);
    let _: Tensor<f32, shape![Batch, 4]> = x.trapezoid(axis![1], 0.5);
    let matrix = Tensor::<f32, shape![3, 4]>::ones();
    let _: Tensor<f32, shape![3, 5]> = matrix.mm(square.t());
    let _: Tensor<f32, shape![3, 5]> = row.narrow(axis![0], 0, 1).addmm(&matrix, &square.t(), 1, 0.5);
    let _: Tensor<f32, shape![4, 3]> = row.outer(&Tensor::<bool, shape![3]>::ones());
    let _: Tensor<f32, shape![3, 16]> = matrix.kron(&row);
    let _: Tensor<f32, shape![3, 5]> = matrix.cdist(&square, 2.0);
    let _: Tensor<f32, shape![3, 3]> = matrix.cov(1);
    let _: Tensor<f32, shape![4, 3]> =
        Tensor::<f32, shape![4, 3]>::ones().cross(&Tensor::<f32, shape![3]>::ones(), axis![1]);
}

/// Distances of batches that broadcast, in more pieces than one.
#[test]
fn distances_in_pieces() {
    let x: Tensor<f32, shape![2, 1, 100, 40]> = Tensor::from_fn(|[b, _, i, k]: [usize; 4]| (b * 7 + i * 3 + k) as f32);
    let y: Tensor<f32, shape![3, 50, 40]> = Tensor::from_fn(|[b, j, k]: [usize; 3]| (b * 5 + j + k * 2) as f32);
    let distances: Tensor<f32, shape![2, 3, 100, 50]> = x.cdist(&y, 1.0);
    for (a, b, i, j) in [(0, 0, 0, 0), (1, 2, 99, 49), (1, 0, 70, 3), (0, 1, 64, 20)] {
        let expected: f32 = (0..40).map(|k| (x[(a, 0, i, k)] - y[(b, j, k)]).abs()).sum();
        assert_eq!(distances[(a, b, i, j)], expected);
    }
}

/// Many columns are reduced by rows, each as it is by itself.
#[test]
fn variances_of_many_columns() {
    let x: Tensor<f32, shape![700, 75]> = Tensor::from_fn(|[i, j]: [usize; 2]| match (i, j) {
        (699, 5) | (3, 66) => f32::INFINITY,
        (8, 70) => f32::NAN,
        _ => 1000.0 + ((i * 37 + j * 11) % 101) as f32 / 50.0,
    });
    let (variances, means) = x.var_mean_axis(axis![0], 1);
    for column in 0..75 {
        let alone: Tensor<f32, shape![700]> = Tensor::from_fn(|[i]: [usize; 1]| x[(i, column)]);
        let (variance, mean) = alone.var_mean_axis(axis![0], 1);
        for (found, expected) in [(variances[column], variance.item()), (means[column], mean.item())] {
            let is_alike = found == expected || (found - expected).abs() <= 1e-6 * expected.abs();
            assert!(is_alike || found.is_nan() && expected.is_nan(), "{found} is not {expected} in column {column}");
        }
    }
}

/// Meta tensors know the shapes.
#[test]
fn shapes_without_data() {
    use castiron::Meta;
    let x: Tensor<f32, shape![_, 8], Meta> = Tensor::zeros_sized([5, 8]);
    let (weight, bias): (Tensor<f32, shape![3, 8], Meta>, Tensor<f32, shape![3], Meta>) =
        (Tensor::zeros(), Tensor::zeros());
    assert_eq!(x.linear(&weight, Some(&bias)).shape(), [5, 3]);
    assert_eq!(x.layer_norm::<shape![8]>(None, None, 1e-5).cummin(axis![0]).1.shape(), [5, 8]);
    assert_eq!(bias.addmm(&x, &weight.t(), 1, 1).diff(axis![0], 2).shape(), [3, 3]);
    assert_eq!((x.kron(&weight).shape(), x.cdist(&weight, 2.0).shape(), x.cov(1).shape()), ([15, 64], [5, 3], [5, 5]));
    assert_eq!(
        (x.norm(2.0).shape(), x.aminmax_axis(axis![1]).0.shape(), x.trapezoid(axis![0], 1.0).shape()),
        ([], [5], [8])
    );
    assert!(x.try_equal(&x).is_err() && x.try_histc(3, 0.0, 1.0).is_err());
}

/// Mismatches known only at run time are refused with the reason.
#[test]
fn errors() {
    fn text<T>(result: castiron::Result<T>) -> String {
        result.err().unwrap().to_string()
    }
    let sized = |m, n| -> Two<f32> { Tensor::ones_sized([m, n]) };
    let (x, row): (Two<f32>, One<f32>) = (sized(2, 3), Tensor::ones_sized([2]));
    assert_eq!(
        text(x.try_layer_norm(Some(&row), None, 1e-5)),
        "layer_norm: expected a tensor of shape [3], got one of shape [2]"
    );
    assert_eq!(
        text(x.try_layer_norm::<shape![4]>(None, None, 1e-5)),
        "layer_norm: expected a tensor of shape [4], got one of shape [3]"
    );
    assert!(text(x.try_mm(&x)).starts_with("matmul: inner sizes differ: shapes [2, 3] and [2, 3]"));
    assert!(text(x.try_linear(&sized(4, 2), None)).starts_with("matmul: inner sizes differ"));
    assert!(
        text(row.try_addmm(&sized(4, 3), &sized(3, 5), 1, 1))
            .starts_with("addmm: shapes [2] and [4, 5] do not broadcast")
    );
    assert_eq!(
        text(tensor![1].try_addr(&tensor![1], &tensor![1], 0.5, 1)),
        "addr: `beta` must not be a floating-point number for tensors of integers, got 0.5"
    );
    assert!(text(sized(0, 3).try_norm(f64::INFINITY)).contains("the operation has no identity"));
    assert_eq!(
        text(tensor![1.0].select(axis![0], 0).try_diff(axis![0], 1)),
        "diff: a zero-dim tensor has no neighbours"
    );
    assert!(text(x.try_cdist(&x, -1.0)).contains("`p` must not be negative"));
    assert!(text(x.try_cross(&sized(2, 1), axis![1])).contains("must have size 3"));
    assert!(text(tensor![1, -1].try_bincount(0)).contains("must not be negative, got -1"));
    assert!(text(tensor![1.0].try_histc(0, 0.0, 1.0)).contains("at least one bin"));
    assert!(text(castiron::try_multi_dot::<f32, Dyn, Dyn, castiron::Cpu>(&[])).contains("no matrices"));
}
