//! Reductions by name.

use super::named;
use crate::any::AnyTensor;
use crate::any::call::{Bound, NamedOp, Value};
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result};

type Reduced = fn(&AnyTensor, Option<&[i64]>, bool, Option<DType>) -> Result<AnyTensor>;

fn with_dtype(args: &Bound<'_>, reduced: Reduced) -> Result<Value> {
    let (dims, dtype) = (args.ints_or_none("dim")?, args.dtype_or_none("dtype")?);
    reduced(args.tensor("input")?, dims.as_deref(), args.bool_or("keepdim", false)?, dtype).map(Value::Array)
}

fn over(args: &Bound<'_>, reduced: fn(&AnyTensor, Option<&[i64]>, bool) -> Result<AnyTensor>) -> Result<Value> {
    let dims = args.ints_or_none("dim")?;
    reduced(args.tensor("input")?, dims.as_deref(), args.bool_or("keepdim", false)?).map(Value::Array)
}

fn place(args: &Bound<'_>, found: fn(&AnyTensor, Option<i64>, bool) -> Result<AnyTensor>) -> Result<Value> {
    let keepdim = args.bool_or("keepdim", false)?;
    found(args.tensor("input")?, args.int_or_none("dim")?, keepdim).map(Value::Array)
}

/// `var` and its kin: `(input, unbiased)` or `(input, dim, unbiased, keepdim)`, with `correction` in place of `unbiased`.
fn spread<T: Into<Value>>(
    args: &Bound<'_>,
    run: fn(&AnyTensor, Option<&[i64]>, f64, bool) -> Result<T>,
) -> Result<Value> {
    let (x, keepdim) = (args.tensor("input")?, args.bool_or("keepdim", false)?);
    let (dims, unbiased) = match args.get("dim") {
        Some(Value::Number(ScalarValue::Bool(unbiased))) => (None, Some(*unbiased)),
        _ => (args.ints_or_none("dim")?, args.get("unbiased").map(|_| args.bool_or("unbiased", true)).transpose()?),
    };
    let correction = match unbiased {
        Some(unbiased) => f64::from(u8::from(unbiased)),
        None => args.float_or("correction", 1.0)?,
    };
    Ok(run(x, dims.as_deref(), correction, keepdim)?.into())
}

type Chosen = fn(&AnyTensor, i64, bool) -> Result<(AnyTensor, AnyTensor)>;
type Paired = fn(&AnyTensor, &AnyTensor) -> Result<AnyTensor>;

/// `max` and `min`: of everything, along an axis, or of two tensors.
fn extreme(
    args: &Bound<'_>,
    all: fn(&AnyTensor, Option<&[i64]>, bool) -> Result<AnyTensor>,
    along: Chosen,
    paired: Paired,
) -> Result<Value> {
    let x = args.tensor("input")?;
    if let Some(other) = args.tensor_or_none("other")? {
        return paired(x, other).map(Value::Array);
    }
    match args.get("dim") {
        None => all(x, None, false).map(Value::Array),
        Some(Value::Array(other)) => paired(x, other).map(Value::Array),
        Some(_) => Ok(along(x, args.int("dim")?, args.bool_or("keepdim", false)?)?.into()),
    }
}

/// What the order of a norm is.
enum Order {
    None,
    Frobenius,
    Number(f64),
}

fn order(args: &Bound<'_>, name: &str) -> Result<Order> {
    match args.get(name) {
        None => Ok(Order::None),
        Some(Value::Str(text)) => match text.as_str() {
            "fro" => Ok(Order::Frobenius),
            "inf" => Ok(Order::Number(f64::INFINITY)),
            "-inf" => Ok(Order::Number(f64::NEG_INFINITY)),
            other => {
                let reason = format!("order {other:?} is not supported: singular values are not computed");
                Err(Error::InvalidArgument { op: args.op, reason })
            }
        },
        Some(_) => args.scalar(name).map(|order| Order::Number(order.real_part())),
    }
}

fn measured(args: &Bound<'_>) -> Result<AnyTensor> {
    args.tensor("input")?.measured_in(args.op, args.dtype_or_none("dtype")?)
}

fn matrix_norm(args: &Bound<'_>, x: &AnyTensor, order: Order, dims: &[i64], keepdim: bool) -> Result<AnyTensor> {
    let &[a, b] = dims else {
        let reason = format!("the norm of a matrix is over two axes, got {dims:?}");
        return Err(Error::InvalidArgument { op: args.op, reason });
    };
    match order {
        Order::None | Order::Frobenius => x.vector_norm(2.0, Some(&[a, b]), keepdim),
        Order::Number(order) => x.matrix_norm(order, [a, b], keepdim),
    }
}

/// A vector's norm, or a matrix's, by how many axes there are.
fn linalg_norm(args: &Bound<'_>) -> Result<Value> {
    let (x, keepdim, dims) = (measured(args)?, args.bool_or("keepdim", false)?, args.ints_or_none("dim")?);
    let order = order(args, "ord")?;
    let all: Vec<i64> = (0..x.rank() as i64).collect();
    let dims = match (dims, &order) {
        (None, Order::None) => return x.vector_norm(2.0, None, keepdim).map(Value::Array),
        (None, _) => all,
        (Some(dims), _) => dims,
    };
    match (dims.len(), order) {
        (1, Order::None) => x.vector_norm(2.0, Some(&dims), keepdim).map(Value::Array),
        (1, Order::Number(order)) => x.vector_norm(order, Some(&dims), keepdim).map(Value::Array),
        (_, order) => matrix_norm(args, &x, order, &dims, keepdim).map(Value::Array),
    }
}

pub(super) const OPS: &[NamedOp] = named! {
    "sum"("input", "dim", "keepdim", "dtype") "all computing dtypes" { output(Computes) } => |args| with_dtype(args, AnyTensor::sum);
    "prod"("input", "dim", "keepdim", "dtype") "all computing dtypes" { output(Computes) } => |args| with_dtype(args, AnyTensor::prod);
    "mean"("input", "dim", "keepdim", "dtype") "floats and complex" { output(ComputesInexact) } => |args| with_dtype(args, AnyTensor::mean);
    "nansum"("input", "dim", "keepdim", "dtype") "bool, integers and floats" { output(Computes) } => |args| with_dtype(args, AnyTensor::nansum);
    "nanmean"("input", "dim", "keepdim", "dtype") "floats" => |args| with_dtype(args, AnyTensor::nanmean);
    "var"("input", "dim", "unbiased", "keepdim", "correction") "floats and complex" { output(AsReal) } => |args| {
        spread(args, AnyTensor::var)
    };
    "std"("input", "dim", "unbiased", "keepdim", "correction") "floats and complex" { output(AsReal) } => |args| {
        spread(args, AnyTensor::std)
    };
    "var_mean"("input", "dim", "unbiased", "keepdim", "correction") "floats and complex" => |args| {
        spread(args, AnyTensor::var_mean)
    };
    "std_mean"("input", "dim", "unbiased", "keepdim", "correction") "floats and complex" => |args| {
        spread(args, AnyTensor::std_mean)
    };
    "amax"("input", "dim", "keepdim") "bool, integers and floats" => |args| over(args, AnyTensor::amax);
    "amin"("input", "dim", "keepdim") "bool, integers and floats" => |args| over(args, AnyTensor::amin);
    "aminmax"("input", "dim", "keepdim") "bool, integers and floats" => |args| {
        let (x, keepdim) = (args.tensor("input")?, args.bool_or("keepdim", false)?);
        let dims = args.int_or_none("dim")?.map(|dim| vec![dim]);
        Ok(x.aminmax(dims.as_deref(), keepdim)?.into())
    };
    "max"("input", "dim", "keepdim", "other") "bool, integers and floats" => |args| {
        extreme(args, AnyTensor::amax, AnyTensor::max_axis, |a, b| a.maximum(b))
    };
    "min"("input", "dim", "keepdim", "other") "bool, integers and floats" => |args| {
        extreme(args, AnyTensor::amin, AnyTensor::min_axis, |a, b| a.minimum(b))
    };
    "argmax"("input", "dim", "keepdim") "integers and floats" => |args| place(args, AnyTensor::argmax);
    "argmin"("input", "dim", "keepdim") "integers and floats" => |args| place(args, AnyTensor::argmin);
    "any"("input", "dim", "keepdim") "all computing dtypes" { output(Truth) } => |args| over(args, AnyTensor::any);
    "all"("input", "dim", "keepdim") "all computing dtypes" { output(Truth) } => |args| over(args, AnyTensor::all);
    "count_nonzero"("input", "dim") "all computing dtypes" => |args| {
        Ok(args.tensor("input")?.count_nonzero(args.ints_or_none("dim")?.as_deref())?.into())
    };
    "logsumexp"("input", "dim", "keepdim") "all computing dtypes" { aliases(&["special.logsumexp"]) } => |args| over(args, AnyTensor::logsumexp);
    "norm"("input", "p", "dim", "keepdim", "out", "dtype") "floats and complex" => |args| {
        let ord = match order(args, "p")? {
            Order::None | Order::Frobenius => 2.0,
            Order::Number(ord) => ord,
        };
        let dims = args.ints_or_none("dim")?;
        Ok(measured(args)?.vector_norm(ord, dims.as_deref(), args.bool_or("keepdim", false)?)?.into())
    };
    "linalg.vector_norm"("input", "ord", "dim", "keepdim", "dtype") "floats and complex" => |args| {
        let (ord, dims) = (args.float_or("ord", 2.0)?, args.ints_or_none("dim")?);
        Ok(measured(args)?.vector_norm(ord, dims.as_deref(), args.bool_or("keepdim", false)?)?.into())
    };
    "linalg.matrix_norm"("input", "ord", "dim", "keepdim", "dtype") "floats and complex" => |args| {
        let dims = args.ints_or_none("dim")?.unwrap_or_else(|| vec![-2, -1]);
        let x = measured(args)?;
        Ok(matrix_norm(args, &x, order(args, "ord")?, &dims, args.bool_or("keepdim", false)?)?.into())
    };
    "linalg.norm"("input", "ord", "dim", "keepdim", "dtype") "floats and complex" => linalg_norm;
    "sum_to_size"("input", "*size") "all computing dtypes" => |args| {
        Ok(args.tensor("input")?.sum_to_size(&args.rest_ints("*size")?)?.into())
    };
    "trace"("input") "all computing dtypes but bool" => |args| Ok(args.tensor("input")?.trace()?.into());
};
