//! Runs PyTorch's samples with `Tensor` as well: where a sample can be written with the axes and dtypes of this table, `Tensor` and
//! `AnyTensor` give the same results, bit for bit.

use crate::tokens;
use castiron::any::Value;
use castiron::fft::Norm;
use castiron::pad::{Circular, Constant, Reflect, Replicate};
use castiron::reduction::{Mean, Sum, Unreduced};
use castiron::{
    AnyTensor, Complete, Complex, Cpu, Reduced, Result, ScalarValue, Shape, Tensor, Uplo, axis, bf16, dim, shape,
};
use std::collections::BTreeMap;

/// The arguments of a call, by position or by name.
pub struct Call<'a> {
    pub args: &'a [Value],
    pub named: &'a BTreeMap<String, Value>,
}
/// The result of `Tensor`; `None` if the call is not covered by this table.
type Given = Option<Result<Value>>;

impl Call<'_> {
    fn value(&self, at: usize, name: &str) -> Option<&Value> {
        let value = self.args.get(at).or_else(|| self.named.get(name))?;
        (!matches!(value, Value::Absent)).then_some(value)
    }
    /// A tensor, or the first of a list.
    fn tensor(&self, at: usize, name: &str) -> Option<&AnyTensor> {
        match self.value(at, name)? {
            Value::Array(tensor) => Some(tensor),
            Value::List(all) => match all.first()? {
                Value::Array(tensor) => Some(tensor),
                _ => None,
            },
            _ => None,
        }
    }
    /// A tensor of this dtype and rank.
    fn typed<E: castiron::Element, S: Shape>(&self, at: usize, name: &str) -> Option<Tensor<E, S, Cpu>> {
        self.tensor(at, name)?.typed::<E, S, Cpu>().ok()
    }
    /// A list of tensors of this dtype and rank.
    fn all<E: castiron::Element, S: Shape>(&self) -> Option<Vec<Tensor<E, S, Cpu>>> {
        let Value::List(all) = self.args.first()? else { return None };
        let typed = |value: &Value| match value {
            Value::Array(tensor) => tensor.typed::<E, S, Cpu>().ok(),
            _ => None,
        };
        all.iter().map(typed).collect()
    }
    fn number(&self, at: usize, name: &str, default: f64) -> Option<f64> {
        match self.value(at, name) {
            None => Some(default),
            Some(Value::Number(ScalarValue::Float(value))) => Some(*value),
            Some(Value::Number(ScalarValue::Int(value))) => Some(*value as f64),
            Some(Value::Number(ScalarValue::Bool(value))) => Some(f64::from(u8::from(*value))),
            Some(Value::Str(text)) => text.parse().ok(),
            Some(_) => None,
        }
    }
    fn int(&self, at: usize, name: &str, default: i64) -> Option<i64> {
        let number = self.number(at, name, default as f64)?;
        (number.fract() == 0.0).then_some(number as i64)
    }
    /// A list of integers.
    fn ints(&self, at: usize, name: &str) -> Option<Vec<i64>> {
        let Value::List(all) = self.value(at, name)? else { return None };
        let number = |value: &Value| match value {
            Value::Number(ScalarValue::Int(value)) => i64::try_from(*value).ok(),
            _ => None,
        };
        all.iter().map(number).collect()
    }
    fn is(&self, at: usize, name: &str, default: bool) -> Option<bool> {
        Some(self.int(at, name, i64::from(default))? != 0)
    }
    /// Succeeds if none of these arguments is given.
    fn lacks(&self, names: &[(usize, &str)]) -> Option<()> {
        names.iter().all(|(at, name)| self.value(*at, name).is_none()).then_some(())
    }
    fn uplo(&self, at: usize) -> Option<Uplo> {
        match self.value(at, "UPLO") {
            None => Some(Uplo::Lower),
            Some(Value::Str(text)) if text.eq_ignore_ascii_case("L") => Some(Uplo::Lower),
            Some(Value::Str(text)) if text.eq_ignore_ascii_case("U") => Some(Uplo::Upper),
            Some(_) => None,
        }
    }
    fn norm(&self, at: usize) -> Option<Norm> {
        match self.value(at, "norm") {
            None => Some(Norm::Backward),
            Some(Value::Str(text)) if text == "backward" => Some(Norm::Backward),
            Some(Value::Str(text)) if text == "forward" => Some(Norm::Forward),
            Some(Value::Str(text)) if text == "ortho" => Some(Norm::Ortho),
            Some(_) => None,
        }
    }
    fn reduction(&self, at: usize) -> Option<&str> {
        self.lacks(&[(usize::MAX, "reduce"), (usize::MAX, "size_average")])?;
        match self.value(at, "reduction") {
            None => Some("mean"),
            Some(Value::Str(text)) => Some(text),
            Some(_) => None,
        }
    }
}

trait Results {
    fn value(self) -> Value;
}
impl<E: castiron::Element, S: Shape> Results for Tensor<E, S>
where
    AnyTensor: From<Tensor<E, S>>,
{
    fn value(self) -> Value {
        AnyTensor::from(self).into()
    }
}
impl<A: Results, B: Results> Results for (A, B) {
    fn value(self) -> Value {
        Value::List([self.0.value(), self.1.value()].into_iter().collect())
    }
}
impl<A: Results, B: Results, C: Results> Results for (A, B, C) {
    fn value(self) -> Value {
        Value::List([self.0.value(), self.1.value(), self.2.value()].into_iter().collect())
    }
}
fn of(result: Result<impl Results>) -> Given {
    Some(result.map(Results::value))
}

/// Calls an operation along the last axis or the first.
macro_rules! at_axis {
    ($x:ident, $dim:expr, |$axis:ident| $run:expr) => {{
        let (dim, rank) = ($dim, $x.shape().len() as i64);
        if dim == -1 || dim + 1 == rank {
            let $axis = axis![-1];
            of($run)
        } else if dim == 0 || dim + rank == 0 {
            let $axis = axis![0];
            of($run)
        } else {
            None
        }
    }};
}
macro_rules! reduced {
    ($reduction:expr, |$how:ident| $run:expr) => {
        match $reduction {
            "mean" => {
                let $how = Mean;
                of($run)
            }
            "sum" => {
                let $how = Sum;
                of($run)
            }
            "none" => {
                let $how = Unreduced;
                of($run)
            }
            _ => None,
        }
    };
}
/// Runs one body for each dtype and shape of the first tensor.
macro_rules! cells {
    ($first:ident $x:ident [$($dtype:ty)*] $shapes:tt $body:tt) => {
        $(cells!(@shapes $first $x $dtype, $shapes $body);)*
    };
    (@shapes $first:ident $x:ident $dtype:ty, [$($shape:ty)*] $body:tt) => {$(
        if let Ok($x) = $first.typed::<$dtype, $shape, Cpu>() {
            #[allow(dead_code)]
            type E = $dtype;
            #[allow(dead_code)]
            type S = $shape;
            #[allow(clippy::redundant_closure_call)]
            return (|| -> Given $body)();
        }
    )*};
}
macro_rules! fronts {
    ($($name:ident = $op:literal $dtypes:tt $shapes:tt |$x:ident, $call:ident| $body:tt)*) => {
        $(
            fn $name($call: &Call<'_>) -> Given {
                let first = $call.tensor(0, "input")?;
                cells!(first $x $dtypes $shapes $body);
                None
            }
        )*
        /// The operations in this table.
        pub const NAMES: &[&str] = &[$($op),*];
        /// Runs an operation with `Tensor`.
        pub fn run(name: &str, call: &Call<'_>) -> Given {
            match name {
                $($op => $name(call),)*
                _ => None,
            }
        }
    };
}
type V = shape![_];
type M = shape![_, _];
type T = shape![_, _, _];
type Q = shape![_, _, _, _];
type C = Complex<f32>;

fronts! {
    glu = "nn.functional.glu" [f32 bf16] [V M T] |x, c| { at_axis!(x, c.int(1, "dim", -1)?, |axis| x.try_glu(axis)) }
    renorm = "renorm" [f32 bf16] [M T] |x, c| {
        let (p, most) = (c.number(1, "p", 2.0)?, c.number(3, "maxnorm", 1.0)?);
        at_axis!(x, c.int(2, "dim", 0)?, |axis| x.try_renorm(axis, p, most))
    }
    cov = "cov" [f32 bf16 i32 C] [M] |x, c| {
        c.lacks(&[(2, "fweights"), (3, "aweights")])?;
        of(x.try_cov(usize::try_from(c.int(1, "correction", 1)?).ok()?).map(squeezed))
    }
    corrcoef = "corrcoef" [f32 bf16 i32 C] [M] |x, _c| {
        // (One variable is a matrix here.)
        if x.shape()[0] == 1 {
            return None;
        }
        of(x.try_corrcoef())
    }
    cosine_similarity = "nn.functional.cosine_similarity" [f32 bf16] [V M T] |x, c| {
        let (y, eps) = (c.typed::<E, S>(1, "x2")?, c.number(3, "eps", 1e-8)?);
        at_axis!(x, c.int(2, "dim", 1)?, |axis| x.try_cosine_similarity(&y, axis, eps))
    }
    cosine_embedding_loss = "nn.functional.cosine_embedding_loss" [f32 bf16] [M] |x, c| {
        let (y, target) = (c.typed::<E, S>(1, "input2")?, c.typed::<E, V>(2, "target")?);
        let margin = c.number(3, "margin", 0.0)?;
        reduced!(c.reduction(6)?, |how| x.try_cosine_embedding_loss(&y, &target, margin, how))
    }
    margin_ranking_loss = "nn.functional.margin_ranking_loss" [f32 bf16] [V M T] |x, c| {
        let (y, target) = (c.typed::<E, S>(1, "input2")?, c.typed::<E, S>(2, "target")?);
        let margin = c.number(3, "margin", 0.0)?;
        reduced!(c.reduction(6)?, |how| x.try_margin_ranking_loss(&y, &target, margin, how))
    }
    triplet_margin_loss = "nn.functional.triplet_margin_loss" [f32 bf16] [M] |x, c| {
        let (near, far) = (c.typed::<E, S>(1, "positive")?, c.typed::<E, S>(2, "negative")?);
        let [margin, p, eps] = [c.number(3, "margin", 1.0)?, c.number(4, "p", 2.0)?, c.number(5, "eps", 1e-6)?];
        let swap = c.is(6, "swap", false)?;
        reduced!(c.reduction(9)?, |how| x.try_triplet_margin_loss(&near, &far, margin, p, eps, swap, how))
    }
    pairwise_distance = "nn.functional.pairwise_distance" [f32 bf16] [V M T] |x, c| {
        let y = c.typed::<E, S>(1, "x2")?;
        if c.is(4, "keepdim", false)? {
            return None;
        }
        of(x.try_pairwise_distance(&y, c.number(2, "p", 2.0)?, c.number(3, "eps", 1e-6)?))
    }
    pdist = "nn.functional.pdist" [f32] [M] |x, c| { of(x.try_pdist(c.number(1, "p", 2.0)?)) }
    batch_norm = "nn.functional.batch_norm" [f32 bf16] [M T Q] |x, c| {
        let (weight, bias) = (c.typed::<E, V>(3, "weight"), c.typed::<E, V>(4, "bias"));
        let eps = c.number(7, "eps", 1e-5)?;
        let momentum = c.number(6, "momentum", 0.1)?;
        if c.is(5, "training", false)? {
            return of(match (&weight, &bias) {
                (Some(weight), Some(bias)) => x.try_batch_norm_training((), weight, bias, momentum, eps),
                (Some(weight), None) => x.try_batch_norm_training((), weight, (), momentum, eps),
                (None, Some(bias)) => x.try_batch_norm_training((), (), bias, momentum, eps),
                (None, None) => x.try_batch_norm_training((), (), (), momentum, eps),
            });
        }
        let (mean, var) = (c.typed::<E, V>(1, "running_mean")?, c.typed::<E, V>(2, "running_var")?);
        of(match (&weight, &bias) {
            (Some(weight), Some(bias)) => x.try_batch_norm(&mean, &var, weight, bias, eps),
            (Some(weight), None) => x.try_batch_norm(&mean, &var, weight, (), eps),
            (None, Some(bias)) => x.try_batch_norm(&mean, &var, (), bias, eps),
            (None, None) => x.try_batch_norm(&mean, &var, (), (), eps),
        })
    }
    instance_norm = "nn.functional.instance_norm" [f32 bf16] [T Q] |x, c| {
        c.lacks(&[(1, "running_mean"), (2, "running_var")])?;
        let (weight, bias) = (c.typed::<E, V>(3, "weight"), c.typed::<E, V>(4, "bias"));
        let eps = c.number(7, "eps", 1e-5)?;
        of(match (&weight, &bias) {
            (Some(weight), Some(bias)) => x.try_instance_norm(weight, bias, eps),
            (Some(weight), None) => x.try_instance_norm(weight, (), eps),
            (None, Some(bias)) => x.try_instance_norm((), bias, eps),
            (None, None) => x.try_instance_norm((), (), eps),
        })
    }
    local_response_norm = "nn.functional.local_response_norm" [f32 bf16] [T Q] |x, c| {
        let size = usize::try_from(c.int(1, "size", 0)?).ok()?;
        of(x.try_local_response_norm(size, c.number(2, "alpha", 1e-4)?, c.number(3, "beta", 0.75)?, c.number(4, "k", 1.0)?))
    }
    tensordot = "tensordot" [f32 bf16 i32 C] [M T] |x, c| {
        let y = c.typed::<E, S>(1, "b")?;
        match c.value(2, "dims") {
            Some(Value::Number(ScalarValue::Int(1))) => of(x.try_tensordot(&y, axis![-1], axis![0])),
            Some(Value::Number(ScalarValue::Int(2))) | None => of(x.try_tensordot(&y, axis![-2, -1], axis![0, 1])),
            _ => None,
        }
    }
    inner = "inner" [f32 bf16 i32 C] [shape![] V M T] |x, c| {
        if let Some(number) = c.typed::<E, shape![]>(1, "other") {
            return of(x.try_inner(&number));
        }
        of(x.try_inner(&c.typed::<E, S>(1, "other")?))
    }
    kron = "kron" [f32 i32 C] [V M T] |x, c| { of(x.try_kron(&c.typed::<E, S>(1, "other")?)) }
    outer = "outer" [f32 bf16 i32 C] [V] |x, c| { of(x.try_outer(&c.typed::<E, V>(1, "vec2")?)) }
    vecdot = "linalg.vecdot" [f32 bf16 C] [V M T] |x, c| {
        let y = c.typed::<E, S>(1, "y")?;
        at_axis!(x, c.int(2, "dim", -1)?, |axis| x.try_vecdot(&y, axis))
    }
    cross = "linalg.cross" [f32 bf16 i32 C] [V M T] |x, c| {
        let y = c.typed::<E, S>(1, "other")?;
        at_axis!(x, c.int(2, "dim", -1)?, |axis| x.try_cross(&y, axis))
    }
    cdist = "cdist" [f32] [M T] |x, c| { of(x.try_cdist(&c.typed::<E, S>(1, "x2")?, c.number(2, "p", 2.0)?)) }
    dist = "dist" [f32 bf16 C] [V M T] |x, c| { of(x.try_dist(&c.typed::<E, S>(1, "other")?, c.number(2, "p", 2.0)?)) }
    diff = "diff" [f32 bf16 i32 bool C] [V M T] |x, c| {
        c.lacks(&[(3, "prepend"), (4, "append")])?;
        let n = usize::try_from(c.int(1, "n", 1)?).ok()?;
        at_axis!(x, c.int(2, "dim", -1)?, |axis| x.try_diff(axis, n))
    }
    trace = "trace" [f32 bf16 i32 C] [M] |x, _c| { of(x.try_trace()) }
    msort = "msort" [f32 bf16 i32 bool] [V M T] |x, _c| { of(x.try_msort()) }
    argsort = "argsort" [f32 i32 bool] [V M T] |x, c| {
        let descending = c.is(2, "descending", false)?;
        c.is(3, "stable", false)?;
        at_axis!(x, c.int(1, "dim", -1)?, |axis| x.try_argsort(axis, descending))
    }
    unique = "unique" [f32 i32 bool] [V M T] |x, c| {
        c.lacks(&[(4, "dim")])?;
        let (inverse, counts) = (c.is(2, "return_inverse", false)?, c.is(3, "return_counts", false)?);
        of(x.try_unique()).map(|result| result.map(|all| chosen(all, inverse, counts)))
    }
    unique_consecutive = "unique_consecutive" [f32 bf16 i32 bool] [V M T] |x, c| {
        c.lacks(&[(3, "dim")])?;
        let (inverse, counts) = (c.is(1, "return_inverse", false)?, c.is(2, "return_counts", false)?);
        of(x.try_unique_consecutive()).map(|result| result.map(|all| chosen(all, inverse, counts)))
    }
    histc = "histc" [f32] [V M T] |x, c| {
        let bins = usize::try_from(c.int(1, "bins", 100)?).ok()?;
        of(x.try_histc(bins, c.number(2, "min", 0.0)?, c.number(3, "max", 0.0)?))
    }
    bincount = "bincount" [i32 i64] [V] |x, c| {
        c.lacks(&[(1, "weights")])?;
        of(x.try_bincount(usize::try_from(c.int(2, "minlength", 0)?).ok()?))
    }
    bucketize = "bucketize" [f32 bf16 i32] [V M] |x, c| {
        if c.is(usize::MAX, "out_int32", false)? {
            return None;
        }
        of(x.try_bucketize(&c.typed::<E, V>(1, "boundaries")?, c.is(usize::MAX, "right", false)?))
    }
    isin = "isin" [f32 bf16 i32] [V M] |x, c| {
        c.lacks(&[(3, "invert")])?;
        of(x.try_isin(&c.typed::<E, S>(1, "test_elements")?))
    }
    kl_div = "nn.functional.kl_div" [f32 bf16] [V M T] |x, c| {
        let (target, of_logs) = (c.typed::<E, S>(1, "target")?, c.is(5, "log_target", false)?);
        reduced!(c.reduction(4)?, |how| x.try_kl_div(&target, of_logs, how))
    }
    gaussian_nll_loss = "nn.functional.gaussian_nll_loss" [f32 bf16] [V M T] |x, c| {
        let (target, var) = (c.typed::<E, S>(1, "target")?, c.typed::<E, S>(2, "var")?);
        // (Targets have the shape of predictions in the types.)
        if target.shape() != x.shape() {
            return None;
        }
        let (full, eps) = (c.is(3, "full", false)?, c.number(4, "eps", 1e-6)?);
        reduced!(c.reduction(5)?, |how| x.try_gaussian_nll_loss(&target, &var, full, eps, how))
    }
    poisson_nll_loss = "nn.functional.poisson_nll_loss" [f32 bf16] [V M T] |x, c| {
        let (target, eps) = (c.typed::<E, S>(1, "target")?, c.number(5, "eps", 1e-8)?);
        let (log_input, full) = (c.is(2, "log_input", true)?, c.is(3, "full", false)?);
        reduced!(c.reduction(7)?, |how| x.try_poisson_nll_loss(&target, log_input, full, eps, how))
    }
    soft_margin_loss = "nn.functional.soft_margin_loss" [f32 bf16] [V M T] |x, c| {
        let target = c.typed::<E, S>(1, "target")?;
        reduced!(c.reduction(4)?, |how| x.try_soft_margin_loss(&target, how))
    }
    multilabel_soft_margin_loss = "nn.functional.multilabel_soft_margin_loss" [f32 bf16] [M] |x, c| {
        let target = c.typed::<E, S>(1, "target")?;
        match c.typed::<E, S>(2, "weight") {
            Some(weight) => reduced!(c.reduction(5)?, |how| x.try_multilabel_soft_margin_loss(&target, &weight, how)),
            None => {
                c.lacks(&[(2, "weight")])?;
                reduced!(c.reduction(5)?, |how| x.try_multilabel_soft_margin_loss(&target, (), how))
            }
        }
    }
    multilabel_margin_loss = "nn.functional.multilabel_margin_loss" [f32] [M] |x, c| {
        let target = c.typed::<i64, S>(1, "target")?;
        reduced!(c.reduction(4)?, |how| x.try_multilabel_margin_loss(&target, how))
    }
    fftshift = "fft.fftshift" [f32 i32] [V M T] |x, c| {
        match c.value(1, "dim") {
            Some(Value::Number(ScalarValue::Int(dim))) => at_axis!(x, *dim as i64, |axis| x.try_fftshift(axis)),
            _ => None,
        }
    }
    matrix_rank = "linalg.matrix_rank" [f32] [M T] |x, c| {
        c.lacks(&[(1, "tol"), (1, "atol"), (2, "rtol"), (1, "rtol")])?;
        of(x.try_matrix_rank(None, c.is(usize::MAX, "hermitian", false)?))
    }
    pinv = "linalg.pinv" [f32 C] [M T] |x, c| {
        c.lacks(&[(1, "rcond"), (1, "atol"), (2, "rtol")])?;
        of(x.try_pinv(None, c.is(usize::MAX, "hermitian", false)?))
    }
    lu_factor = "linalg.lu_factor" [f32 C] [M T] |x, c| {
        if !c.is(usize::MAX, "pivot", true)? {
            return None;
        }
        of(x.try_lu_factor())
    }
    cholesky = "linalg.cholesky" [f32 C] [M T] |x, c| { of(x.try_cholesky(c.is(usize::MAX, "upper", false)?)) }
    cholesky_solve = "cholesky_solve" [f32 C] [M T] |x, c| {
        of(x.try_cholesky_solve(&c.typed::<E, S>(1, "L")?, c.is(2, "upper", false)?))
    }
    solve = "linalg.solve" [f32 C] [M T] |x, c| {
        if !c.is(usize::MAX, "left", true)? {
            return None;
        }
        of(x.try_solve(&c.typed::<E, S>(1, "B")?))
    }
    solve_ex = "linalg.solve_ex" [f32 C] [M T] |x, c| {
        if !c.is(usize::MAX, "left", true)? {
            return None;
        }
        of(x.try_solve_ex(&c.typed::<E, S>(1, "B")?))
    }
    inv = "linalg.inv" [f32 C] [M T] |x, _c| { of(x.try_inv()) }
    det = "linalg.det" [f32 C] [M T] |x, _c| { of(x.try_det()) }
    slogdet = "linalg.slogdet" [f32 C] [M T] |x, _c| { of(x.try_slogdet()) }
    matrix_exp = "linalg.matrix_exp" [f32 C] [M T] |x, _c| { of(x.try_matrix_exp()) }
    svdvals = "linalg.svdvals" [f32 C] [M T] |x, _c| { of(x.try_svdvals()) }
    tensorinv = "linalg.tensorinv" [f32] [M Q] |x, c| {
        match c.int(1, "ind", 2)? {
            1 => of(x.try_tensorinv::<1>()),
            2 => of(x.try_tensorinv::<2>()),
            _ => None,
        }
    }
    householder_product = "linalg.householder_product" [f32 C] [M] |x, c| {
        of(x.try_householder_product(&c.typed::<E, V>(1, "tau")?))
    }
    cholesky_ex = "linalg.cholesky_ex" [f32 C] [M T] |x, c| {
        if c.is(usize::MAX, "check_errors", false)? {
            return None;
        }
        of(x.try_cholesky_ex(c.is(usize::MAX, "upper", false)?))
    }
    cholesky_inverse = "cholesky_inverse" [f32 C] [M T] |x, c| { of(x.try_cholesky_inverse(c.is(1, "upper", false)?)) }
    inv_ex = "linalg.inv_ex" [f32 C] [M T] |x, c| {
        if c.is(usize::MAX, "check_errors", false)? {
            return None;
        }
        of(x.try_inv_ex())
    }
    lu = "linalg.lu" [f32 C] [M T] |x, c| {
        if !c.is(usize::MAX, "pivot", true)? {
            return None;
        }
        of(x.try_lu())
    }
    lu_factor_ex = "linalg.lu_factor_ex" [f32 C] [M T] |x, c| {
        if !c.is(usize::MAX, "pivot", true)? || c.is(usize::MAX, "check_errors", false)? {
            return None;
        }
        of(x.try_lu_factor_ex())
    }
    ldl_factor = "linalg.ldl_factor" [f32 C] [M T] |x, c| {
        of(x.try_ldl_factor(c.is(usize::MAX, "hermitian", false)?))
    }
    qr = "linalg.qr" [f32 C] [M T] |x, c| {
        match c.value(1, "mode") {
            None => of(x.try_qr(Reduced)),
            Some(Value::Str(mode)) if mode == "reduced" => of(x.try_qr(Reduced)),
            Some(Value::Str(mode)) if mode == "complete" => of(x.try_qr(Complete)),
            Some(_) => None,
        }
    }
    geqrf = "geqrf" [f32 C] [M T] |x, _c| { of(x.try_geqrf()) }
    svd = "linalg.svd" [f32 C] [M T] |x, c| {
        if c.is(1, "full_matrices", true)? { of(x.try_svd(Complete)) } else { of(x.try_svd(Reduced)) }
    }
    eigh = "linalg.eigh" [f32 C] [M T] |x, c| { of(x.try_eigh(c.uplo(1)?)) }
    eigvalsh = "linalg.eigvalsh" [f32 C] [M T] |x, c| { of(x.try_eigvalsh(c.uplo(1)?)) }
    eig = "linalg.eig" [f32 C] [M T] |x, _c| { of(x.try_eig()) }
    eigvals = "linalg.eigvals" [f32 C] [M T] |x, _c| { of(x.try_eigvals()) }
    cond = "linalg.cond" [f32 C] [M T] |x, c| { of(x.try_cond(c.number(1, "p", 2.0)?)) }
    solve_triangular = "linalg.solve_triangular" [f32 C] [M T] |x, c| {
        let (b, upper) = (c.typed::<E, S>(1, "B")?, c.is(usize::MAX, "upper", false)?);
        let unitriangular = c.is(usize::MAX, "unitriangular", false)?;
        match c.is(usize::MAX, "left", true)? {
            true => of(x.try_solve_triangular(&b, upper, unitriangular)),
            false => of(x.try_rsolve_triangular(&b, upper, unitriangular)),
        }
    }
    ormqr = "ormqr" [f32 C] [M] |x, c| {
        let (tau, other) = (c.typed::<E, V>(1, "tau")?, c.typed::<E, S>(2, "other")?);
        let adjoint = c.is(4, "transpose", false)?;
        match c.is(3, "left", true)? {
            true => of(x.try_ormqr(&tau, &other, adjoint)),
            false => of(x.try_rormqr(&tau, &other, adjoint)),
        }
    }
    fft = "fft.fft" [f32 i32 C] [V M T] |x, c| {
        c.lacks(&[(1, "n")])?;
        at_axis!(x, c.int(2, "dim", -1)?, |axis| x.try_fft(axis, c.norm(3)?))
    }
    ifft = "fft.ifft" [f32 i32 C] [V M T] |x, c| {
        c.lacks(&[(1, "n")])?;
        at_axis!(x, c.int(2, "dim", -1)?, |axis| x.try_ifft(axis, c.norm(3)?))
    }
    rfft = "fft.rfft" [f32 i32] [V M T] |x, c| {
        c.lacks(&[(1, "n")])?;
        at_axis!(x, c.int(2, "dim", -1)?, |axis| x.try_rfft(axis, c.norm(3)?))
    }
    ihfft = "fft.ihfft" [f32 i32] [V M T] |x, c| {
        c.lacks(&[(1, "n")])?;
        at_axis!(x, c.int(2, "dim", -1)?, |axis| x.try_ihfft(axis, c.norm(3)?))
    }
    irfft = "fft.irfft" [f32 i32 C] [V M T] |x, c| {
        let n = usize::try_from(c.int(1, "n", 0)?).ok().filter(|&n| n > 0)?;
        at_axis!(x, c.int(2, "dim", -1)?, |axis| x.try_irfft_sized(axis, n, c.norm(3)?))
    }
    hfft = "fft.hfft" [f32 i32 C] [V M T] |x, c| {
        let n = usize::try_from(c.int(1, "n", 0)?).ok().filter(|&n| n > 0)?;
        at_axis!(x, c.int(2, "dim", -1)?, |axis| x.try_hfft_sized(axis, n, c.norm(3)?))
    }
    ifftshift = "fft.ifftshift" [f32 i32] [V M T Q] |x, c| { at_axis!(x, c.int(1, "dim", 9)?, |axis| x.try_ifftshift(axis)) }
    tril = "tril" [f32 i32 bool] [M T] |x, c| { of(x.try_tril(isize::try_from(c.int(1, "diagonal", 0)?).ok()?)) }
    triu = "triu" [f32 i32 bool] [M T] |x, c| { of(x.try_triu(isize::try_from(c.int(1, "diagonal", 0)?).ok()?)) }
    flip = "flip" [f32 bf16 bool C] [V M T Q] |x, c| {
        c.lacks(&[(2, "")])?;
        at_axis!(x, c.int(1, "dims", 9)?, |axis| x.try_flip(axis))
    }
    fliplr = "fliplr" [f32 bool] [M T Q] |x, _c| { of(x.try_fliplr()) }
    flipud = "flipud" [f32 bool] [V M T Q] |x, _c| { of(x.try_flipud()) }
    rot90 = "rot90" [f32 bool] [M T] |x, c| {
        match c.ints(2, "dims").as_deref() {
            None if c.value(2, "dims").is_none() => {}
            Some([0, 1]) => {}
            _ => return None,
        }
        match c.int(1, "k", 1)? {
            -1 => of(x.try_rot90::<-1, _, _>(axis![0, 1])),
            0 => of(x.try_rot90::<0, _, _>(axis![0, 1])),
            1 => of(x.try_rot90::<1, _, _>(axis![0, 1])),
            2 => of(x.try_rot90::<2, _, _>(axis![0, 1])),
            _ => None,
        }
    }
    roll = "roll" [f32 bf16 bool C] [V M T Q] |x, c| {
        let shift = isize::try_from(c.int(1, "shifts", 0)?).ok()?;
        if c.value(2, "dims").is_none() {
            return of(x.try_roll(shift));
        }
        at_axis!(x, c.int(2, "dims", 9)?, |axis| x.try_roll_axis(axis, shift))
    }
    cat = "cat" [f32 i32 bool C] [V M T Q] |x, c| {
        let all = c.all::<E, S>()?;
        at_axis!(x, c.int(1, "dim", 0)?, |axis| castiron::try_cat(&all, axis))
    }
    stack = "stack" [f32 i32 bool C] [V M T Q] |_x, c| {
        let all = c.all::<E, S>()?;
        match c.int(1, "dim", 0)? {
            0 => of(castiron::try_stack(&all, axis![0])),
            1 => of(castiron::try_stack(&all, axis![1])),
            -1 => of(castiron::try_stack(&all, axis![-1])),
            _ => None,
        }
    }
    block_diag = "block_diag" [f32 i32 bool C] [M] |x, c| {
        c.lacks(&[(2, "")])?;
        of(castiron::try_block_diag((&x, &c.typed::<E, M>(1, "")?)))
    }
    cartesian_prod = "cartesian_prod" [f32 i32 bool C] [V] |x, c| {
        c.lacks(&[(2, "")])?;
        of(castiron::try_cartesian_prod((&x, &c.typed::<E, V>(1, "")?)))
    }
    pad = "nn.functional.pad" [f32 i32 bf16] [M T Q] |x, c| {
        let amounts = c.ints(1, "pad")?;
        let &[before, after] = &amounts[..] else { return None };
        let amounts = [isize::try_from(before).ok()?, isize::try_from(after).ok()?];
        match c.value(2, "mode") {
            None => of(x.try_pad_sized(amounts, Constant(c.number(3, "value", 0.0)?))),
            Some(Value::Str(mode)) if mode == "constant" => {
                of(x.try_pad_sized(amounts, Constant(c.number(3, "value", 0.0)?)))
            }
            // (PyTorch pads by elements where there are one or two axes more.)
            _ if x.shape().len() > 3 => None,
            Some(Value::Str(mode)) if mode == "reflect" => of(x.try_pad_sized(amounts, Reflect)),
            Some(Value::Str(mode)) if mode == "replicate" => of(x.try_pad_sized(amounts, Replicate)),
            Some(Value::Str(mode)) if mode == "circular" => of(x.try_pad_sized(amounts, Circular)),
            _ => None,
        }
    }
    pixel_shuffle = "nn.functional.pixel_shuffle" [f32 bool] [T Q] |x, c| {
        if c.int(1, "upscale_factor", 0)? != 2 {
            return None;
        }
        of(x.try_pixel_shuffle::<dim!(2), _>())
    }
    pixel_unshuffle = "nn.functional.pixel_unshuffle" [f32 bool] [T Q] |x, c| {
        if c.int(1, "downscale_factor", 0)? != 2 {
            return None;
        }
        of(x.try_pixel_unshuffle::<dim!(2), _>())
    }
    channel_shuffle = "nn.functional.channel_shuffle" [f32 bool] [T Q] |x, c| {
        if c.int(1, "groups", 0)? != 2 {
            return None;
        }
        of(x.try_channel_shuffle::<dim!(2)>())
    }
    tile = "tile" [f32 bool] [V M T] |x, c| {
        c.lacks(&[(2, "")])?;
        of(x.try_tile_sized::<V>([usize::try_from(c.int(1, "dims", 0)?).ok()?]))
    }
    repeat = "repeat" [f32 bool] [V] |x, c| {
        c.lacks(&[(2, "")])?;
        of(x.try_repeat_sized::<V>([usize::try_from(c.int(1, "repeats", 0)?).ok()?]))
    }
    repeat_interleave = "repeat_interleave" [f32 bool] [V M T] |x, c| {
        if let Some(repeats) = c.typed::<i64, V>(1, "repeats") {
            return at_axis!(x, c.int(2, "dim", 9)?, |axis| x.try_repeat_interleave_by(axis, &repeats));
        }
        let times = usize::try_from(c.int(1, "repeats", -1)?).ok()?;
        at_axis!(x, c.int(2, "dim", 9)?, |axis| x.try_repeat_interleave_sized(axis, times))
    }
    log_softmax = "log_softmax" [f32 bf16] [V M T] |x, c| {
        c.lacks(&[(2, "dtype")])?;
        at_axis!(x, c.int(1, "dim", -1)?, |axis| x.try_log_softmax(axis))
    }
    logsumexp = "logsumexp" [f32 bf16 i32] [V M T] |x, c| {
        if c.is(2, "keepdim", false)? {
            return None;
        }
        at_axis!(x, c.int(1, "dim", -1)?, |axis| x.try_logsumexp(axis))
    }
    cumsum = "cumsum" [f32 bf16 i32 bool C] [V M T] |x, c| {
        c.lacks(&[(2, "dtype")])?;
        at_axis!(x, c.int(1, "dim", -1)?, |axis| x.try_cumsum(axis))
    }
}

/// A covariance of one variable is a number in PyTorch.
fn squeezed<E: castiron::Element, S: Shape>(x: Tensor<E, S>) -> Squeezed
where
    AnyTensor: From<Tensor<E, S>>,
{
    Squeezed(AnyTensor::from(x))
}
struct Squeezed(AnyTensor);
impl Results for Squeezed {
    fn value(self) -> Value {
        self.0.squeeze(None).map_or(Value::Absent, Value::Array)
    }
}

/// Picks what was asked for from the elements, indices and counts.
fn chosen(all: Value, inverse: bool, counts: bool) -> Value {
    let Value::List(all) = all else { return all };
    let wanted = [true, inverse, counts];
    let mut kept: Vec<Value> =
        all.into_iter().zip(wanted).filter(|(_, wanted)| *wanted).map(|(value, _)| value).collect();
    if kept.len() == 1 { kept.remove(0) } else { Value::List(kept.into_iter().collect()) }
}

/// Checks that both results have the same dtype, sizes, strides and bits.
pub fn agree(any: &Result<Value>, typed: &Result<Value>, is_determined: bool) -> core::result::Result<(), String> {
    match (any, typed) {
        (Err(_), Err(_)) => Ok(()),
        (Ok(any), Ok(typed)) => alike(any, typed, is_determined),
        (Ok(_), Err(error)) => Err(format!("`Tensor` refuses it: {error}")),
        (Err(error), Ok(_)) => Err(format!("`Tensor` takes it, `AnyTensor` does not: {error}")),
    }
}

fn alike(any: &Value, typed: &Value, is_determined: bool) -> core::result::Result<(), String> {
    match (any, typed) {
        (Value::Array(any), Value::Array(typed)) => {
            let of = |x: &AnyTensor| (x.dtype(), x.shape().to_vec());
            if of(any) != of(typed) {
                return Err(format!("`AnyTensor` gives {:?}, `Tensor` {:?}", of(any), of(typed)));
            }
            if any.stride() != typed.stride() && any.numel() > 1 {
                return Err(format!("strides of `AnyTensor` are {:?}, of `Tensor` {:?}", any.stride(), typed.stride()));
            }
            if !is_determined {
                return Ok(());
            }
            tokens::same(typed, any).map_err(|error| format!("`Tensor` beside `AnyTensor`: {error}"))
        }
        (Value::List(any), Value::List(typed)) if any.len() == typed.len() => {
            any.iter().zip(typed.iter()).try_for_each(|(any, typed)| alike(any, typed, is_determined))
        }
        _ => Err(format!("`AnyTensor` gives {any:?}, `Tensor` {typed:?}")),
    }
}
