//! Distances, statistics, integrals, derivatives, closeness and sums of products, by name.
//! Uses `scan::trapezoid`, `view::views`.

use super::named;
use crate::any::AnyTensor;
use crate::any::call::{Bound, NamedOp, Value};
use crate::any::scan::trapezoid::Steps;
use crate::any::view::views::axes;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result};

/// Samples at places `x`, or `dx` apart.
fn integral(args: &Bound<'_>, of: fn(&AnyTensor, i64, &Steps<'_>) -> Result<AnyTensor>) -> Result<Value> {
    let steps = match args.tensor_or_none("x")? {
        Some(x) => Steps::Places(x),
        None => Steps::Even(args.scalar_or("dx", ScalarValue::Int(1))?),
    };
    of(args.tensor("y")?, args.int_or("dim", -1)?, &steps).map(Value::Array)
}

/// One distance for all axes, or a distance or places for each.
fn gradient(args: &Bound<'_>) -> Result<Value> {
    let x = args.tensor("input")?;
    let dims = match args.ints_or_none("dim")? {
        Some(dims) => axes(args.op, &dims, x.rank())?,
        None => (0..x.rank()).collect(),
    };
    let spacing = match args.get("spacing") {
        Some(Value::List(spacing)) if spacing.len() != dims.len() => {
            let reason = format!("{} spacings are given for {} axes", spacing.len(), dims.len());
            return Err(Error::InvalidArgument { op: args.op, reason });
        }
        Some(Value::List(spacing)) => spacing.iter().collect(),
        Some(one) => vec![one; dims.len()],
        None => vec![&Value::Number(ScalarValue::Int(1)); dims.len()],
    };
    let edge_order = args.int_or("edge_order", 1)?;
    let along = |(&at, spacing): (&usize, &Value)| {
        let steps = match spacing {
            Value::Number(dx) => Steps::Even(*dx),
            Value::Array(places) => Steps::Places(places),
            other => return Err(args.wrong("spacing", "scalars or tensors", other)),
        };
        x.gradient_along(at as i64, &steps, edge_order).map(Value::Array)
    };
    dims.iter().zip(spacing).map(along).collect::<Result<Vec<_>>>().map(Value::List)
}

fn tolerances(args: &Bound<'_>) -> Result<(f64, f64, bool)> {
    Ok((args.float_or("rtol", 1e-5)?, args.float_or("atol", 1e-8)?, args.bool_or("equal_nan", false)?))
}

fn count(args: &Bound<'_>, name: &str, default: i64) -> Result<usize> {
    let count = args.int_or(name, default)?;
    usize::try_from(count).map_err(|_| Error::InvalidArgument {
        op: args.op,
        reason: format!("argument `{name}` must not be negative, got {count}"),
    })
}

pub(super) const OPS: &[NamedOp] = named! {
    "dist"("input", "other", "p") "floats and complex" => |args| {
        Ok(args.tensor("input")?.dist(args.tensor("other")?, args.float_or("p", 2.0)?)?.into())
    };
    "cdist"("x1", "x2", "p", "compute_mode") "floats" => |args| {
        Ok(args.tensor("x1")?.cdist(args.tensor("x2")?, args.float_or("p", 2.0)?)?.into())
    };
    "nn.functional.pairwise_distance"("x1", "x2", "p", "eps", "keepdim") "all computing dtypes but bool" => |args| {
        let (p, eps) = (args.float_or("p", 2.0)?, args.float_or("eps", 1e-6)?);
        Ok(args.tensor("x1")?.pairwise_distance(args.tensor("x2")?, p, eps, args.bool_or("keepdim", false)?)?.into())
    };
    "nn.functional.cosine_similarity"("x1", "x2", "dim", "eps") "floats" => |args| {
        let (dim, eps) = (args.int_or("dim", 1)?, args.float_or("eps", 1e-8)?);
        Ok(args.tensor("x1")?.cosine_similarity(args.tensor("x2")?, dim, eps)?.into())
    };
    "cov"("input", "correction", "fweights", "aweights") "all computing dtypes but bool" => |args| {
        let (counts, weights) = (args.tensor_or_none("fweights")?, args.tensor_or_none("aweights")?);
        Ok(args.tensor("input")?.cov(args.int_or("correction", 1)?, counts, weights)?.into())
    };
    "corrcoef"("input") "all computing dtypes but bool" => |args| Ok(args.tensor("input")?.corrcoef()?.into());
    "cross"("input", "other", "dim") "all computing dtypes but bool" => |args| {
        let (x, other) = (args.tensor("input")?, args.tensor("other")?);
        // Without an axis it is the first of size 3.
        let first = || x.shape().iter().position(|&size| size == 3).map(|at| at as i64);
        let Some(dim) = args.int_or_none("dim")?.or_else(first) else {
            let reason = format!("no axis of {:?} has size 3", x.shape());
            return Err(Error::InvalidArgument { op: "cross", reason });
        };
        Ok(x.cross(other, dim)?.into())
    };
    "linalg.cross"("input", "other", "dim") "all computing dtypes but bool" => |args| {
        Ok(args.tensor("input")?.cross(args.tensor("other")?, args.int_or("dim", -1)?)?.into())
    };
    "bincount"("input", "weights", "minlength") "integers" => |args| {
        let weights = args.tensor_or_none("weights")?;
        Ok(args.tensor("input")?.bincount(weights, count(args, "minlength", 0)?)?.into())
    };
    "histc"("input", "bins", "min", "max") "floats" => |args| {
        let (min, max) = (args.float_or("min", 0.0)?, args.float_or("max", 0.0)?);
        Ok(args.tensor("input")?.histc(count(args, "bins", 100)?, min, max)?.into())
    };
    "isclose"("input", "other", "rtol", "atol", "equal_nan") "all computing dtypes" => |args| {
        let (rtol, atol, equal_nan) = tolerances(args)?;
        Ok(args.tensor("input")?.isclose(args.tensor("other")?, rtol, atol, equal_nan)?.into())
    };
    "allclose"("input", "other", "rtol", "atol", "equal_nan") "all computing dtypes" => |args| {
        let (rtol, atol, equal_nan) = tolerances(args)?;
        Ok(args.tensor("input")?.allclose(args.tensor("other")?, rtol, atol, equal_nan)?.into())
    };
    "equal"("input", "other") "all computing dtypes" => |args| {
        Ok(args.tensor("input")?.equal(args.tensor("other")?)?.into())
    };
    "frexp"("input") "floats" => |args| Ok(args.tensor("input")?.frexp()?.into());
    "unravel_index"("indices", "shape") "integers" => |args| {
        let places = args.tensor("indices")?.unravel_index(&args.ints("shape")?)?;
        Ok(Value::List(places.into_iter().map(Value::Array).collect()))
    };
    "trapezoid"("y", "x", "dx", "dim") "all computing dtypes but bool" { aliases(&["trapz"]) } => |args| integral(args, AnyTensor::integral);
    "cumulative_trapezoid"("y", "x", "dx", "dim") "all computing dtypes but bool" => |args| {
        integral(args, AnyTensor::running_integral)
    };
    "einsum"("equation", "*operands") "all computing dtypes" => |args| {
        Ok(crate::any::einsum(args.str_or("equation", "")?, &args.tensors("*operands")?)?.into())
    };
    "gradient"("input", "spacing", "dim", "edge_order") "all computing dtypes but bool and uint8" => gradient;
};
