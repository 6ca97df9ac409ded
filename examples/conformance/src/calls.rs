//! The meaning of the names in the tables of dtypes: which operation a row calls, and with which further arguments.

use crate::tokens;
use castiron::any::{Args, Value, alias, call, call_in_place, call_into, ops};
use castiron::{AnyTensor, Complex, DType, Generator, Result, ScalarValue};
use std::collections::HashSet;
use std::sync::LazyLock;

/// Ones; zero bytes for dtypes that nothing converts to.
pub fn ones(dtype: DType, sizes: &[usize]) -> Result<AnyTensor> {
    AnyTensor::ones(sizes, dtype).or_else(|_| AnyTensor::zeros(sizes, dtype))
}

/// An operand of ones: `T` is a list of two, `Z` is zero-dim, `S` is a Python number.
pub fn operand(kind: &str, code: &str) -> Option<Value> {
    let value = match code {
        "py.bool" => ScalarValue::Bool(true),
        "py.int" => ScalarValue::Int(1),
        "py.float" => ScalarValue::Float(1.0),
        "py.complex" => ScalarValue::Complex(Complex::new(1.0, 0.0)),
        _ => return ones(tokens::dtype(code)?, if kind == "Z" { &[] } else { &[2] }).ok().map(Value::Array),
    };
    Some(value.into())
}

/// Whether castiron has an operation of this name.
fn is_known(name: &str) -> bool {
    static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| ops().map(|op| op.name).collect());
    KNOWN.contains(name) || alias(name).is_some()
}

/// Calls an operation, if castiron has it.
fn named(name: &str, args: Args) -> Option<Result<Value>> {
    is_known(name).then(|| call(name, &args))
}

fn args<const N: usize>(values: [&Value; N]) -> Args {
    values.into_iter().fold(Args::new(), |args, value| args.arg(value.clone()))
}

fn list<const N: usize>(values: [&Value; N]) -> Value {
    Value::List(values.into_iter().cloned().collect())
}

/// Ones of the same dtype, with other sizes.
fn shaped(of: &Value, sizes: &[usize]) -> Value {
    match of {
        Value::Array(of) => ones(of.dtype(), sizes).map_or(Value::Absent, Value::Array),
        other => other.clone(),
    }
}

/// Zeros of the same dtype, for use as indices.
fn zeros(of: &Value) -> Value {
    match of {
        Value::Array(of) => AnyTensor::zeros(of.shape(), of.dtype()).map_or(Value::Absent, Value::Array),
        other => other.clone(),
    }
}

/// `[[1, 0], [0, 1]]`, which has an inverse and is positive definite; ones for dtypes that nothing converts to.
fn identity(dtype: DType) -> Value {
    let ones = || ones(dtype, &[2, 2]).map_or(Value::Absent, Value::Array);
    call("eye", &Args::new().arg(2_i64).named("dtype", dtype)).unwrap_or_else(|_| ones())
}

/// Indices from 0 up.
fn indices(count: i64) -> Value {
    call("arange", &Args::new().arg(count)).unwrap_or(Value::Absent)
}

/// `[True, False]`
fn first_of_two() -> Value {
    let mask = castiron::tensor![true, false];
    tokens::placed(mask.into()).map_or(Value::Absent, Value::Array)
}

fn truths() -> Value {
    ones(DType::Bool, &[2]).map_or(Value::Absent, Value::Array)
}

/// Runs a row of `binary_ops.csv`; `None` if castiron does not have the operation.
pub fn binary(op: &str, a: &Value, b: &Value) -> Option<Result<Value>> {
    let both = args([a, b]);
    let (square, zero) = (|x: &Value| shaped(x, &[2, 2]), Value::from(0_i64));
    match op {
        "op_and" => named("bitwise_and", both),
        "op_or" => named("bitwise_or", both),
        "op_xor" => named("bitwise_xor", both),
        "op_lshift" => named("bitwise_left_shift", both),
        "op_rshift" => named("bitwise_right_shift", both),
        "op_floordiv" => named("floor_divide", both),
        "op_mod" => named("remainder", both),
        "op_pow" => named("pow", both),
        "op_sub" => named("sub", both),
        "op_truediv" => named("div", both),
        "add_alpha2" => named("add", both.named("alpha", 2_i64)),
        "add_alpha2.5" => named("add", both.named("alpha", 2.5)),
        "sub_alpha2.5" => named("sub", both.named("alpha", 2.5)),
        "div_floor" => named("div", both.named("rounding_mode", "floor")),
        "div_trunc" => named("div", both.named("rounding_mode", "trunc")),
        "lerp_w0.5" => named("lerp", both.named("weight", 0.5)),
        "special_xlog1py" => named("special.xlog1py", both),
        "special_zeta" => named("special.zeta", both),
        "linalg_vecdot" => named("linalg.vecdot", both),
        "prelu" => named("nn.functional.prelu", both),
        "result_type_meta_add" => {
            let meta = |x: &Value| match x {
                Value::Array(x) => x.to_device("meta").map(Value::from),
                other => Ok(other.clone()),
            };
            Some(meta(a).and_then(|a| call("add", &args([&a, &meta(b)?]))))
        }
        "where" => named("where", args([&truths(), a, b])),
        "where_cond_a" => named("where", args([a, b, b])),
        "addcmul_abb" => named("addcmul", args([a, b, b])),
        "addcmul_aab" => named("addcmul", args([a, a, b])),
        "addcdiv_aab" => named("addcdiv", args([a, a, b])),
        "clamp_minmax" => named("clamp", args([a, b, b])),
        "masked_fill_TTb" => named("masked_fill", args([a, &truths(), b])),
        "mask_arg_b" => named("masked_fill", args([a, b, &1_i64.into()])),
        "masked_select_mask_b" => named("masked_select", both),
        "masked_scatter_src_b" => named("masked_scatter", args([a, &truths(), b])),
        "stack" | "column_stack" | "cat" | "hstack" | "vstack" | "dstack" => named(op, args([&list([a, b])])),
        "hstack_ZT" => named("hstack", args([&list([a, b])])),
        "cat_ZT" => named("cat", args([&list([a, b])])),
        "cat_empty_lhs" => named("cat", args([&list([&shaped(a, &[0]), b])])),
        "corrcoef_cat" => named("cat", args([&list([a, b])])),
        "linalg_multi_dot" => named("linalg.multi_dot", args([&list([&square(a), &square(b)])])),
        "mm" => named("mm", args([&square(a), &square(b)])),
        "matmul_mm" => named("matmul", args([&square(a), &square(b)])),
        "matmul_vv" => named("matmul", both),
        "matmul_mv" => named("matmul", args([&square(a), b])),
        "matmul_bm" => named("matmul", args([&shaped(a, &[2, 2, 2]), &square(b)])),
        "linalg_solve" => match call("tril", &args([&square(a)])) {
            // A matrix of ones alone would be singular.
            Ok(lower) => named("linalg.solve", args([&lower, &square(b)])),
            Err(error) => Some(Err(error)),
        },
        "sdpa_kv_b" => {
            let heads = |x: &Value| shaped(x, &[1, 1, 2, 2]);
            named("nn.functional.scaled_dot_product_attention", args([&heads(a), &heads(b), &heads(b)]))
        }
        "linear" => named("nn.functional.linear", args([&square(a), &square(b)])),
        "cdist" => named("cdist", args([&square(a), &square(b)])),
        "mv" => named("mv", args([&square(a), b])),
        "bmm" => named("bmm", args([&shaped(a, &[2, 2, 2]), &shaped(b, &[2, 2, 2])])),
        "addmm_abb" => named("addmm", args([&square(a), &square(b), &square(b)])),
        "addmv_abb" => named("addmv", args([a, &square(b), b])),
        "addr_abb" => named("addr", args([&square(a), b, b])),
        "baddbmm_abb" => {
            let cube = |x: &Value| shaped(x, &[2, 2, 2]);
            named("baddbmm", args([&cube(a), &cube(b), &cube(b)]))
        }
        "einsum_ij_jk" => named("einsum", args([&"ij,jk->ik".into(), &square(a), &square(b)])),
        "tensordot" => named("tensordot", args([&square(a), &square(b), &1_i64.into()])),
        "kron_mm" => named("kron", args([&square(a), &square(b)])),
        "ger" => named("outer", both),
        "cross" => named("cross", args([&shaped(a, &[3]), &shaped(b, &[3])])),
        "pairwise_distance" => named("nn.functional.pairwise_distance", args([&square(a), &square(b)])),
        "cosine_similarity" => named("nn.functional.cosine_similarity", args([&square(a), &square(b)])),
        "tril_like_add_row" => named("add", args([&square(a), b])),
        "gather_idx_b" => named("gather", args([a, &zero, &zeros(b)])),
        "index_select_idx_b" => named("index_select", args([a, &zero, &zeros(b)])),
        "take_idx_b" => named("take", args([a, &zeros(b)])),
        "one_hot_like_take_along_dim" => named("take_along_dim", args([a, &zeros(b), &zero])),
        "index_b_zero" => named("__getitem__", args([a, &list([&zeros(b)])])),
        "embedding_w_a_idx_b" => named("nn.functional.embedding", args([&zeros(b), &square(a)])),
        "tensor_split_idx_b" => named("tensor_split", both),
        "repeat_interleave_reps_b" => named("repeat_interleave", both),
        "quantile_q_b" => named("quantile", both),
        "bincount_weights_b" => named("bincount", both),
        "bilinear_like_conv1d" => {
            let signal = |x: &Value| shaped(x, &[1, 1, 2]);
            named("nn.functional.conv1d", args([&signal(a), &signal(b)]))
        }
        "conv2d" => {
            let picture = |x: &Value| shaped(x, &[1, 1, 2, 2]);
            named("nn.functional.conv2d", args([&picture(a), &picture(b)]))
        }
        "histogram_w_b" => named("histogram", args([a, &2_i64.into()]).named("weight", b.clone())),
        "trapezoid_x_b" => named("trapezoid", both),
        "cov_fweights_b" => named("cov", args([a]).named("fweights", b.clone())),
        "layer_norm_weight_b" => named("nn.functional.layer_norm", args([&square(a), &list([&2_i64.into()]), b])),
        "batch_norm_stats_b" => named("nn.functional.batch_norm", args([&square(a), b, b])),
        "scatter_src_b" => named("scatter", args([a, &zero, &indices(2), b])),
        "scatter_add_src_b" => named("scatter_add", args([a, &zero, &indices(2), b])),
        "index_add_src_b" => named("index_add", args([a, &zero, &indices(2), b])),
        "index_copy_src_b" => named("index_copy", args([a, &zero, &indices(2), b])),
        "index_fill_val_b" => named("index_fill", args([a, &zero, &indices(2), b])),
        "index_put_val_b" => named("index_put", args([a, &list([&indices(2)]), b])),
        "slice_scatter" => named("slice_scatter", both),
        "select_scatter" => named("select_scatter", args([&square(a), b, &zero, &zero])),
        "mse_loss" | "l1_loss" | "smooth_l1_loss" | "huber_loss" | "kl_div" => {
            named(&format!("nn.functional.{op}"), both)
        }
        "cross_entropy_idx_b" => named("nn.functional.cross_entropy", args([&square(a), &zeros(b)])),
        "cross_entropy_prob_b" => named("nn.functional.cross_entropy", args([&square(a), &square(b)])),
        "nll_loss_idx_b" => named("nn.functional.nll_loss", args([&square(a), &zeros(b)])),
        "bce" => named("nn.functional.binary_cross_entropy", both),
        "bce_logits" => named("nn.functional.binary_cross_entropy_with_logits", both),
        _ => named(op, both),
    }
}

/// A scalar as a result.
fn item(x: &AnyTensor) -> Result<Value> {
    x.select(0, 0)?.item().map(Value::from)
}

/// A random tensor with the sizes and the dtype of another.
fn drawn(x: &AnyTensor, draw: impl FnOnce(&[usize], DType, &mut Generator) -> Result<AnyTensor>) -> Result<Value> {
    draw(x.shape(), x.dtype(), &mut Generator::seeded(0)).map(Value::from)
}

/// Runs a row of `unary_ops.csv` on a list of two ones; `None` if castiron does not have the operation.
pub fn unary(op: &str, x: &AnyTensor) -> Option<Result<Value>> {
    let (value, dtype) = (Value::from(x), x.dtype());
    let one = args([&value]);
    let of = |sizes: &[usize]| args([&shaped(&value, sizes)]);
    let zero = Value::from(0_i64);
    if let Some(name) = op.strip_prefix("F_") {
        return named(&format!("nn.functional.{name}"), one);
    }
    if let Some(name) = op.strip_prefix("special_") {
        return named(&format!("special.{name}"), one);
    }
    if let Some((name, dtype)) = op.split_once("_dtype=") {
        let name = if name == "vector_norm" { "linalg.vector_norm" } else { name };
        let one = if matches!(name, "softmax" | "cumsum") { one.named("dim", 0_i64) } else { one };
        return named(name, one.named("dtype", tokens::dtype(dtype)?));
    }
    if let Some(name) = op.strip_suffix("_dim0") {
        return named(name, one.named("dim", 0_i64));
    }
    let asked = |prefix: &str| op.strip_prefix(prefix).and_then(tokens::dtype);
    if let Some(dtype) = asked("to_").or(asked("type_")) {
        return named("to", one.arg(dtype));
    }
    if let Some(dtype) = asked("empty_like_") {
        return named("empty_like", one.named("dtype", dtype));
    }
    if let Some(dtype) = asked("view_") {
        return named("view", of(&[8]).arg(dtype));
    }
    if let Some(name) = op.strip_suffix("()") {
        return named(name, one);
    }
    match op {
        "clamp_0_1" => named("clamp", one.arg(0_i64).arg(1_i64)),
        "clamp_0_1.5" => named("clamp", one.arg(0_i64).arg(1.5)),
        "clamp_min_True" => named("clamp", one.named("min", true)),
        "pow_-1" => named("pow", one.arg(-1_i64)),
        "pow_0.5" => named("pow", one.arg(0.5)),
        "pow_2" => named("pow", one.arg(2_i64)),
        "pow_2.0" => named("pow", one.arg(2.0)),
        "pow_2j" => named("pow", one.arg(ScalarValue::Complex(Complex::new(0.0, 2.0)))),
        "rpow_2" => named("pow", args([&2_i64.into(), &value])),
        "rpow_2.0" => named("pow", args([&2.0.into(), &value])),
        "rpow_True" => named("pow", args([&true.into(), &value])),
        "rsub_1" => named("rsub", one.arg(1_i64)),
        "rdiv_1" => named("div", args([&1_i64.into(), &value])),
        "rfloordiv_1" => named("floor_divide", args([&1_i64.into(), &value])),
        "rmod_1" => named("remainder", args([&1_i64.into(), &value])),
        "rlshift_1" => named("bitwise_left_shift", args([&1_i64.into(), &value])),
        "rand_1" => named("bitwise_and", args([&1_i64.into(), &value])),
        "py_abs" => named("abs", one),
        "py_neg" => named("neg", one),
        "py_pos" => named("positive", one),
        "py_invert" => named("bitwise_not", one),
        "polygamma_1" => named("polygamma", args([&1_i64.into(), &value])),
        "mvlgamma_1" => named("mvlgamma", one.arg(1_i64)),
        "round_decimals1" => named("round", one.named("decimals", 1_i64)),
        "cat_self" => named("cat", args([&list([&value, &value])])),
        "complex_self" => named("complex", one.arg(x)),
        "polar_self" => named("polar", one.arg(x)),
        "dist_self" => named("dist", one.arg(x)),
        "dot_self" => named("dot", one.arg(x)),
        "mm_self" => named("mm", of(&[2, 2]).arg(shaped(&value, &[2, 2]))),
        "contiguous_t" => Some(ones(dtype, &[2, 2]).and_then(|x| x.t()?.contiguous()).map(Value::from)),
        "diagonal" | "tril" | "triu" | "rot90" | "trace" => named(op, of(&[2, 2])),
        "cholesky" | "det" | "eig" | "eigh" | "eigvals" | "inv" | "lu_factor" | "matrix_exp" | "matrix_rank"
        | "pinv" | "qr" | "slogdet" | "svd" | "svdvals" => named(&format!("linalg.{op}"), args([&identity(dtype)])),
        "fft" | "hfft" | "ifft" | "irfft" | "rfft" | "fftshift" => named(&format!("fft.{op}"), one),
        "fft2" => named("fft.fft2", of(&[2, 2])),
        "stft" => named("stft", of(&[20]).arg(4_i64).named("return_complex", true)),
        "avg_pool1d" | "max_pool1d" => named(&format!("nn.functional.{op}"), of(&[1, 1, 2]).arg(2_i64)),
        "adaptive_avg_pool1d" => named("nn.functional.adaptive_avg_pool1d", of(&[1, 1, 2]).arg(1_i64)),
        "interpolate_nearest" => named("nn.functional.interpolate", of(&[1, 1, 2]).arg(4_i64)),
        "interpolate_linear" => named("nn.functional.interpolate", of(&[1, 1, 2]).arg(4_i64).named("mode", "linear")),
        "dropout" => named("nn.functional.dropout", one),
        "embedding_bag_w" => named(
            "nn.functional.embedding_bag",
            args([&indices(2), &shaped(&value, &[2, 2])]).named("offsets", indices(1)),
        ),
        "matrix_power_2" => named("linalg.matrix_power", of(&[2, 2]).arg(2_i64)),
        "matrix_norm" => named("linalg.matrix_norm", of(&[2, 2])),
        "expand" => named("expand", one.arg(vec![2_i64, 2])),
        "permute" => named("permute", of(&[2, 2]).arg(vec![1_i64, 0])),
        "unfold" => named("unfold", one.arg(0_i64).arg(2_i64).arg(1_i64)),
        "repeat" | "tile" => named(op, one.arg(vec![2_i64])),
        "repeat_interleave" | "roll" => named(op, one.arg(1_i64)),
        "flip" => named("flip", one.arg(0_i64)),
        "full_like_1" => named("full_like", one.arg(1_i64)),
        "full_like_1.5" => named("full_like", one.arg(1.5)),
        "full_like_1j" => named("full_like", one.arg(ScalarValue::Complex(Complex::new(0.0, 1.0)))),
        "new_full_1" => named("new_full", one.arg(vec![2_i64]).arg(1_i64)),
        "new_zeros" => named("new_zeros", one.arg(vec![2_i64])),
        "new_tensor" => {
            let data = list([&1_i64.into(), &1_i64.into()]);
            named("tensor", args([&data]).named("dtype", dtype))
        }
        "gather" => named("gather", one.arg(0_i64).arg(indices(2))),
        "index_select" => named("index_select", one.arg(0_i64).arg(indices(2))),
        "take" => named("take", one.arg(indices(2))),
        "index_int" => named("__getitem__", args([&value, &list([&zero])])),
        "index_list" => named("__getitem__", args([&value, &list([&list([&zero, &1_i64.into()])])])),
        "index_mask" => named("__getitem__", args([&value, &list([&truths()])])),
        "masked_fill_1" => named("masked_fill", one.arg(truths()).arg(1_i64)),
        "masked_select" => named("masked_select", one.arg(truths())),
        "scatter_scalar" => named("scatter", one.arg(0_i64).arg(indices(2)).arg(1_i64)),
        "scatter_reduce_sum" => named("scatter_reduce", one.arg(0_i64).arg(indices(2)).arg(x).arg("sum")),
        "one_hot" => named("nn.functional.one_hot", one),
        "kthvalue_1" => named("kthvalue", one.arg(1_i64)),
        "topk_1" => named("topk", one.arg(1_i64)),
        "sort_stable" => named("sort", one.named("stable", true)),
        "unique_inv_cnt" => named("unique", one.named("return_inverse", true).named("return_counts", true)),
        "quantile_0.5" => named("quantile", one.arg(0.5)),
        "nanquantile_0.5" => named("nanquantile", one.arg(0.5)),
        "logcumsumexp0" => named("logcumsumexp", one.arg(0_i64)),
        "norm_fro" => named("norm", one.named("p", "fro")),
        "norm_p1" => named("norm", one.arg(1_i64)),
        "vector_norm" => named("linalg.vector_norm", one),
        "vector_norm_0" => named("linalg.vector_norm", one.arg(0_i64)),
        "vector_norm_inf" => named("linalg.vector_norm", one.arg(f64::INFINITY)),
        "renorm" => named("renorm", of(&[2, 2]).arg(2_i64).arg(0_i64).arg(1.0)),
        "softmin" => named("nn.functional.softmin", one.arg(0_i64)),
        "normalize" => named("nn.functional.normalize", of(&[2, 2])),
        "layer_norm" | "rms_norm" => named(&format!("nn.functional.{op}"), of(&[2, 2]).arg(vec![2_i64])),
        "group_norm" => named("nn.functional.group_norm", of(&[2, 2]).arg(1_i64)),
        "pad_const" => named("nn.functional.pad", one.arg(vec![1_i64, 1])),
        "pad_reflect" => named("nn.functional.pad", of(&[1, 2]).arg(vec![1_i64, 1]).arg("reflect")),
        "cov" => named("cov", one),
        "histc" => named("histc", one.arg(2_i64)),
        "histogram" => named("histogram", one.arg(2_i64)),
        "to_meta" => Some(x.to_device("meta").map(Value::from)),
        "to_sparse" => Some(x.to_sparse(0).and_then(|sparse| sparse.values()).map(Value::from)),
        "to_sparse_dense" => Some(x.to_sparse(0).and_then(|sparse| sparse.to_dense()).map(Value::from)),
        "item_0d" | "tolist" => Some(item(x)),
        "py_bool_1elt" => Some(x.select(0, 0).and_then(|x| x.to(DType::Bool)?.item()).map(Value::from)),
        "py_int_1elt" => Some(x.select(0, 0).and_then(|x| x.to(DType::I64)?.item()).map(Value::from)),
        "py_float_1elt" => Some(x.select(0, 0).and_then(|x| x.to(DType::F64)?.item()).map(Value::from)),
        "py_complex_1elt" => Some(x.select(0, 0).and_then(|x| x.to(DType::C128)?.item()).map(Value::from)),
        "py_index_1elt" => Some(AnyTensor::ones(&[2], DType::I64).and_then(|list| {
            let at = x.select(0, 0)?.item()?;
            call("select", &args([&list.into(), &zero, &at.into()])).map(|_| ScalarValue::Int(1).into())
        })),
        "repr" => Some(Ok(Value::from(&*x.to_string()))),
        "rand_like" => Some(drawn(x, AnyTensor::rand)),
        "randn_like" => Some(drawn(x, AnyTensor::randn)),
        "randint_like" => Some(drawn(x, |sizes, dtype, generator| AnyTensor::randint(sizes, 0, 2, dtype, generator))),
        "bernoulli" => Some(x.bernoulli(&mut Generator::seeded(0)).map(Value::from)),
        "poisson" => Some(x.poisson(&mut Generator::seeded(0)).map(Value::from)),
        "multinomial" => Some(x.multinomial(1, false, &mut Generator::seeded(0)).map(Value::from)),
        "sum"
        | "prod"
        | "mean"
        | "any"
        | "all"
        | "amax"
        | "amin"
        | "argmax"
        | "argmin"
        | "count_nonzero"
        | "max"
        | "min"
        | "median"
        | "nanmedian"
        | "nansum"
        | "nanmean"
        | "std"
        | "var"
        | "aminmax"
        | "bincount"
        | "combinations"
        | "trapezoid"
        | "cumulative_trapezoid"
        | "gradient"
        | "diff"
        | "diag"
        | "diag_embed"
        | "clone"
        | "logit"
        | "nan_to_num"
        | "nonzero"
        | "norm"
        | "ones_like"
        | "zeros_like"
        | "round"
        | "std_mean"
        | "vander"
        | "var_mean"
        | "unique"
        | "unique_consecutive" => named(op, one),
        _ if ops().any(|known| known.name == op && known.arguments == ["input"]) || alias(op).is_some() => {
            named(op, one)
        }
        _ => None,
    }
}

/// Runs a row of `inplace.csv` that writes into its first operand; `None` if castiron does not have the operation.
pub fn in_place(op: &str, x: &mut AnyTensor, other: &Value) -> Option<Result<()>> {
    let (zero, one) = (Value::from(0_i64), args([other]));
    let first = || AnyTensor::zeros(&[1], DType::I64).map_or(Value::Absent, Value::Array);
    let (name, args) = match op {
        "iadd" => ("add", one),
        "isub" => ("sub", one),
        "imul" => ("mul", one),
        "itruediv" => ("div", one),
        "ifloordiv" => ("floor_divide", one),
        "imod" => ("remainder", one),
        "ipow" => ("pow", one),
        "iand" => ("bitwise_and", one),
        "ior" => ("bitwise_or", one),
        "ixor" => ("bitwise_xor", one),
        "ilshift" => ("bitwise_left_shift", one),
        "irshift" => ("bitwise_right_shift", one),
        "div_floor_" => ("div", one.named("rounding_mode", "floor")),
        "div_trunc_" => ("div", one.named("rounding_mode", "trunc")),
        "add_alpha2.5_" => ("add", one.named("alpha", 2.5)),
        "clamp_min" => ("clamp", one),
        "clamp_max" => ("clamp", args([&Value::Absent, other])),
        "clamp_both" => ("clamp", args([other, other])),
        "addcmul_bb" => ("addcmul", args([other, other])),
        "addcdiv_bb" => ("addcdiv", args([other, other])),
        "lerp_" => ("lerp", one.arg(0.5)),
        "masked_fill_" => (op, args([&truths(), other])),
        "masked_scatter_" => (op, args([&first_of_two(), other])),
        "index_fill_" => (op, args([&zero, &first(), other])),
        "index_add_" | "index_copy_" | "scatter_" | "scatter_add_" => (op, args([&zero, &indices(2), other])),
        "put_" => (op, args([&indices(2), other])),
        "index_put_" => (op, args([&list([&first()]), other])),
        "index_put_acc_" => ("index_put_", args([&list([&first()]), other]).named("accumulate", true)),
        "setitem_0" => ("__setitem__", args([&zero, other])),
        "setitem_all" => ("__setitem__", args([&Value::Slice(None, None, None), other])),
        "setitem_mask" => ("__setitem__", args([&list([&first_of_two()]), other])),
        "setitem_idx" => ("__setitem__", args([&list([&first()]), other])),
        _ => (op, one),
    };
    done(call_in_place(name, x, &args))
}

/// The result of a call; `None` if there is no such operation.
fn done(result: Result<()>) -> Option<Result<()>> {
    match result {
        Err(error) if error.to_string().contains("there is no operation") => None,
        result => Some(result),
    }
}

/// Runs a row of `inplace.csv` that changes its only operand.
pub fn on_itself(op: &str, x: &mut AnyTensor) -> Option<Result<()>> {
    let none = Args::new();
    let mut draw = |draw: &dyn Fn(&AnyTensor, &mut Generator) -> Result<AnyTensor>| {
        Some(draw(x, &mut Generator::seeded(0)).and_then(|from| x.copy_from(&from).map(|_| ())))
    };
    let (name, args) = match op {
        "uniform_" => {
            return draw(&|x, generator| AnyTensor::uniform(x.shape(), 0.0, 1.0, x.dtype(), generator));
        }
        "normal_" => return draw(&|x, generator| AnyTensor::normal(x.shape(), 0.0, 1.0, x.dtype(), generator)),
        "bernoulli_" => {
            return draw(&|x, generator| {
                if x.dtype().is_complex() || x.dtype().is_shell() {
                    return AnyTensor::rand(x.shape(), DType::Bool, generator);
                }
                AnyTensor::full(x.shape(), 0.5, DType::F32)?.bernoulli(generator)
            });
        }
        "cumsum_" | "cumprod_" | "unsqueeze_" => (op, none.arg(0_i64)),
        "fill_true" => ("fill_", none.arg(true)),
        "fill_1" => ("fill_", none.arg(1_i64)),
        "fill_1.5" => ("fill_", none.arg(1.5)),
        "fill_1j" => ("fill_", none.arg(ScalarValue::Complex(Complex::new(0.0, 1.0)))),
        "fill_300" => ("fill_", none.arg(300_i64)),
        "fill_-1" => ("fill_", none.arg(-1_i64)),
        "fill_2**40" => ("fill_", none.arg(1_i64 << 40)),
        "fill_nan" => ("fill_", none.arg(f64::NAN)),
        "fill_inf" => ("fill_", none.arg(f64::INFINITY)),
        _ => (op, none),
    };
    done(call_in_place(name, x, &args))
}

/// Runs a row of `inplace.csv` that writes the result of an operation on one tensor into another, of the dtype `to`.
pub fn into(op: &str, x: &AnyTensor, to: DType) -> Option<Result<()>> {
    let value = Value::from(x);
    let one = args([&value]);
    let (name, args) = match op {
        "add_scalar_1" => ("add", one.arg(1_i64)),
        "add_scalar_1.5" => ("add", one.arg(1.5)),
        "mul_scalar_1j" => ("mul", one.arg(ScalarValue::Complex(Complex::new(0.0, 1.0)))),
        "div_floor" => ("div", one.arg(x).named("rounding_mode", "floor")),
        "div_trunc" => ("div", one.arg(x).named("rounding_mode", "trunc")),
        "clamp" => ("clamp", one.arg(x).arg(x)),
        "clamp_scalar" => ("clamp", one.arg(0_i64).arg(1_i64)),
        "cat" | "stack" => (op, args([&list([&value, &value])])),
        "where" => ("where", args([&truths(), &value, &value])),
        "cumsum" | "cumprod" => (op, one.arg(0_i64)),
        "mv" => ("mv", args([&shaped(&value, &[2, 2]), &value])),
        "outer_row" => ("outer", one.arg(x)),
        "gather" | "index_select" => (op, one.arg(0_i64).arg(indices(2))),
        "take" => ("take", one.arg(indices(2))),
        "masked_select" => ("masked_select", one.arg(truths())),
        "norm_dim0" => ("norm", one.named("dim", 0_i64)),
        "sort_values" => ("sort", one),
        "round" => ("round", one),
        "arange_like_full" => {
            let filled = item(x).and_then(|value| {
                let size = list([&2_i64.into()]);
                call("full", &args([&size, &value]).named("dtype", to))
            });
            return Some(filled.map(|_| ()));
        }
        _ => match op.strip_suffix("_dim0") {
            Some(name) => (name, one.named("dim", 0_i64)),
            None if ops().any(|known| known.name == op && known.arguments == ["input"]) => (op, one),
            None => (op, one.arg(x)),
        },
    };
    // Outputs have the sizes of the results.
    let sizes = |value: &Value| match value {
        Value::Array(result) => result.shape().to_vec(),
        _ => Vec::new(),
    };
    let (sizes, several) = match named(name, args.clone())? {
        Ok(Value::List(results)) => (results.first().map(sizes).unwrap_or_default(), true),
        Ok(result) => (sizes(&result), false),
        Err(_) => (vec![2], op == "sort_values"),
    };
    Some(ones(to, &sizes).and_then(|mut out| {
        let mut positions = AnyTensor::zeros(&sizes, DType::I64)?;
        let outs: &mut [&mut AnyTensor] = if several { &mut [&mut out, &mut positions] } else { &mut [&mut out] };
        call_into(name, &args, outs)
    }))
}
