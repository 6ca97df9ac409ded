//! What an order decides, by name.
//! Uses `sort::search`, `tensor::reduce::quantile`, `base::operand`.

use super::named;
use crate::any::AnyTensor;
use crate::any::base::operand::AnyOperand;
use crate::any::call::{Bound, NamedOp, Value};
use crate::any::sort::search::is_in;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::tensor::Interpolation;

fn median(args: &Bound<'_>, ignores_nan: bool) -> Result<Value> {
    let x = args.tensor("input")?;
    match args.int_or_none("dim")? {
        None => x.median(ignores_nan).map(Value::Array),
        Some(dim) => Ok(x.median_axis(dim, args.bool_or("keepdim", false)?, ignores_nan)?.into()),
    }
}

fn quantile(args: &Bound<'_>, ignores_nan: bool) -> Result<Value> {
    let how = match args.str_or("interpolation", "linear")? {
        "linear" => Interpolation::Linear,
        "lower" => Interpolation::Lower,
        "higher" => Interpolation::Higher,
        "midpoint" => Interpolation::Midpoint,
        "nearest" => Interpolation::Nearest,
        other => {
            let reason = format!("interpolation is linear, lower, higher, midpoint or nearest, got {other:?}");
            return Err(Error::InvalidArgument { op: args.op, reason });
        }
    };
    let (dim, keepdim) = (args.int_or_none("dim")?, args.bool_or("keepdim", false)?);
    Ok(args.tensor("input")?.quantile(args.operand("q")?, dim, keepdim, how, ignores_nan)?.into())
}

/// The results that are asked for: one, or a list.
fn distinct(args: &Bound<'_>, found: (AnyTensor, AnyTensor, AnyTensor)) -> Result<Value> {
    let (values, inverse, counts) = found;
    let mut results = vec![Value::Array(values)];
    if args.bool_or("return_inverse", false)? {
        results.push(inverse.into());
    }
    if args.bool_or("return_counts", false)? {
        results.push(counts.into());
    }
    Ok(if results.len() == 1 { results.remove(0) } else { Value::List(results) })
}

/// Places as `int32` where those are asked for.
fn places(args: &Bound<'_>, places: AnyTensor) -> Result<Value> {
    if args.bool_or("out_int32", false)? { places.to(DType::I32).map(Value::Array) } else { Ok(places.into()) }
}

fn count(args: &Bound<'_>, name: &str) -> Result<usize> {
    let k = args.int(name)?;
    usize::try_from(k).map_err(|_| Error::InvalidArgument {
        op: args.op,
        reason: format!("argument `{name}` must not be negative, got {k}"),
    })
}

pub(super) const OPS: &[NamedOp] = named! {
    "sort"("input", "dim", "descending", "stable") "bool, integers and floats" => |args| {
        Ok(args.tensor("input")?.sort(args.int_or("dim", -1)?, args.bool_or("descending", false)?)?.into())
    };
    "argsort"("input", "dim", "descending", "stable") "bool, integers and floats" => |args| {
        Ok(args.tensor("input")?.argsort(args.int_or("dim", -1)?, args.bool_or("descending", false)?)?.into())
    };
    "msort"("input") "bool, integers and floats" => |args| Ok(args.tensor("input")?.msort()?.into());
    "topk"("input", "k", "dim", "largest", "sorted") "integers and floats" => |args| {
        let (k, dim) = (count(args, "k")?, args.int_or("dim", -1)?);
        Ok(args.tensor("input")?.topk(k, dim, args.bool_or("largest", true)?)?.into())
    };
    "kthvalue"("input", "k", "dim", "keepdim") "integers and floats" => |args| {
        let (k, dim) = (count(args, "k")?, args.int_or("dim", -1)?);
        Ok(args.tensor("input")?.kthvalue(k, dim, args.bool_or("keepdim", false)?)?.into())
    };
    "mode"("input", "dim", "keepdim") "bool, integers and floats" => |args| {
        Ok(args.tensor("input")?.mode(args.int_or("dim", -1)?, args.bool_or("keepdim", false)?)?.into())
    };
    "median"("input", "dim", "keepdim") "integers and floats" => |args| median(args, false);
    "nanmedian"("input", "dim", "keepdim") "integers and floats" => |args| median(args, true);
    "quantile"("input", "q", "dim", "keepdim", "interpolation") "float32 and float64" => |args| quantile(args, false);
    "nanquantile"("input", "q", "dim", "keepdim", "interpolation") "float32 and float64" => |args| quantile(args, true);
    "unique"("input", "sorted", "return_inverse", "return_counts", "dim") "bool, integers and floats" => |args| {
        let x = args.tensor("input")?;
        distinct(args, args.int_or_none("dim")?.map_or_else(|| x.unique(), |dim| x.unique_axis(dim))?)
    };
    "unique_consecutive"("input", "return_inverse", "return_counts", "dim") "bool, integers and floats" => |args| {
        let (x, dim) = (args.tensor("input")?, args.int_or_none("dim")?);
        distinct(args, dim.map_or_else(|| x.unique_consecutive(), |dim| x.unique_consecutive_axis(dim))?)
    };
    "searchsorted"("sorted_sequence", "input", "out_int32", "right", "side", "sorter") "integers and floats" => |args| {
        let right = match (args.str_or("side", "")?, args.bool_or("right", false)?) {
            ("", right) => right,
            ("left", false) => false,
            ("right", _) => true,
            (side, _) => {
                let reason = format!("side is left or right, as `right` says, got {side:?}");
                return Err(Error::InvalidArgument { op: "searchsorted", reason });
            }
        };
        let sorted = args.tensor("sorted_sequence")?;
        places(args, sorted.searchsorted(args.operand("input")?, right, args.tensor_or_none("sorter")?)?)
    };
    "bucketize"("input", "boundaries", "out_int32", "right") "integers and floats" => |args| {
        let (boundaries, right) = (args.tensor("boundaries")?, args.bool_or("right", false)?);
        places(args, match args.operand("input")? {
            AnyOperand::Array(x) => x.bucketize(boundaries, right)?,
            scalar => boundaries.searchsorted(scalar, right, None)?,
        })
    };
    "isin"("elements", "test_elements", "assume_unique", "invert") "integers and floats" => |args| {
        let found = is_in(&args.operand("elements")?, &args.operand("test_elements")?)?;
        Ok(if args.bool_or("invert", false)? { found.logical_not()? } else { found }.into())
    };
};
