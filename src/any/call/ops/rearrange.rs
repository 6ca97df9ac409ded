//! Elements that change places, by name.
//! Uses `view::views`.

use super::named;
use crate::any::AnyTensor;
use crate::any::call::{Bound, NamedOp, Value};
use crate::error::{Error, Result, listed};

/// An argument that is not negative.
fn count(args: &Bound<'_>, name: &str) -> Result<usize> {
    args.int(name).and_then(|value| unsigned(args.op, name, value))
}

fn unsigned(op: &'static str, name: &str, value: i64) -> Result<usize> {
    usize::try_from(value).map_err(|_| Error::InvalidArgument {
        op,
        reason: format!("argument `{name}` must not be negative, got {value}"),
    })
}

fn counts(args: &Bound<'_>, name: &str) -> Result<Vec<usize>> {
    args.rest_ints(name)?.into_iter().map(|value| unsigned(args.op, name, value)).collect()
}

fn repeat_interleave(args: &Bound<'_>) -> Result<Value> {
    let input = args.tensor("input")?;
    let dim = args.int_or_none("dim")?;
    let result = match args.get("repeats") {
        // `repeat_interleave(repeats)` without an input gives positions.
        None => {
            let positions = AnyTensor::of_ints(listed(0..input.numel() as i64)?, &[input.numel()])?;
            positions.repeat_interleave_by(input, None)?
        }
        Some(Value::Array(repeats)) => input.repeat_interleave_by(repeats, dim)?,
        Some(_) => input.repeat_interleave(count(args, "repeats")?, dim)?,
    };
    match args.int_or_none("output_size")? {
        // `output_size` must be the size of the result.
        Some(size) if dim.is_some() => {
            let at = crate::any::view::views::axis(args.op, dim.unwrap_or(0), result.rank())?;
            if result.shape()[at] as i64 != size {
                let reason = format!("output_size is {size}, but there are {} positions", result.shape()[at]);
                return Err(Error::InvalidArgument { op: args.op, reason });
            }
            Ok(result.into())
        }
        _ => Ok(result.into()),
    }
}

pub(super) const OPS: &[NamedOp] = named! {
    "flip"("input", "*dims") "all dtypes" => |args| Ok(args.tensor("input")?.flip(&args.rest_ints("*dims")?)?.into());
    "fliplr"("input") "all dtypes" => |args| Ok(args.tensor("input")?.fliplr()?.into());
    "flipud"("input") "all dtypes" => |args| Ok(args.tensor("input")?.flipud()?.into());
    "roll"("input", "shifts", "dims") "all dtypes" => |args| {
        let dims = args.ints_or_none("dims")?.unwrap_or_default();
        Ok(args.tensor("input")?.roll(&args.ints("shifts")?, &dims)?.into())
    };
    "rot90"("input", "k", "dims") "all dtypes" => |args| {
        let dims = args.ints_or_none("dims")?.unwrap_or_else(|| vec![0, 1]);
        let Ok(dims) = <[i64; 2]>::try_from(dims) else {
            let reason = "`dims` are two axes".to_owned();
            return Err(Error::InvalidArgument { op: args.op, reason });
        };
        Ok(args.tensor("input")?.rot90(args.int_or("k", 1)?, dims)?.into())
    };
    "repeat"("input", "*repeats") "all dtypes" => |args| {
        Ok(args.tensor("input")?.repeat(&counts(args, "*repeats")?)?.into())
    };
    "tile"("input", "*dims") "all dtypes" => |args| Ok(args.tensor("input")?.tile(&counts(args, "*dims")?)?.into());
    "repeat_interleave"("input", "repeats", "dim", "output_size") "all dtypes" => repeat_interleave;
    "tril"("input", "diagonal") "all dtypes" => |args| {
        Ok(args.tensor("input")?.tril(args.int_or("diagonal", 0)?)?.into())
    };
    "triu"("input", "diagonal") "all dtypes" => |args| {
        Ok(args.tensor("input")?.triu(args.int_or("diagonal", 0)?)?.into())
    };
    "diag"("input", "diagonal") "all dtypes" => |args| {
        Ok(args.tensor("input")?.diag(args.int_or("diagonal", 0)?)?.into())
    };
    "diag_embed"("input", "offset", "dim1", "dim2") "all dtypes" => |args| {
        let (a, b) = (args.int_or("dim1", -2)?, args.int_or("dim2", -1)?);
        Ok(args.tensor("input")?.diag_embed(args.int_or("offset", 0)?, a, b)?.into())
    };
    "diagflat"("input", "offset") "all dtypes" => |args| {
        Ok(args.tensor("input")?.diagflat(args.int_or("offset", 0)?)?.into())
    };
    "nn.functional.pad"("input", "pad", "mode", "value") "all dtypes; reflect and replicate: all computing dtypes but bool" => |args| {
        let value = args.get("value").map(|_| args.scalar("value")).transpose()?;
        Ok(args.tensor("input")?.pad(&args.ints("pad")?, args.str_or("mode", "constant")?, value)?.into())
    };
    "constant_pad_nd"("input", "pad", "value") "all dtypes" => |args| {
        let value = args.get("value").map(|_| args.scalar("value")).transpose()?;
        Ok(args.tensor("input")?.pad(&args.ints("pad")?, "constant", value)?.into())
    };
    "nn.functional.pixel_shuffle"("input", "upscale_factor") "all dtypes" => |args| {
        Ok(args.tensor("input")?.pixel_shuffle(count(args, "upscale_factor")?)?.into())
    };
    "nn.functional.pixel_unshuffle"("input", "downscale_factor") "all dtypes" => |args| {
        Ok(args.tensor("input")?.pixel_unshuffle(count(args, "downscale_factor")?)?.into())
    };
    "nn.functional.channel_shuffle"("input", "groups") "all dtypes" => |args| {
        Ok(args.tensor("input")?.channel_shuffle(count(args, "groups")?)?.into())
    };
    "unsafe_chunk"("input", "chunks", "dim") "all dtypes" => |args| {
        let parts = args.tensor("input")?.chunk(count(args, "chunks")?, args.int_or("dim", 0)?)?;
        Ok(Value::List(parts.into_iter().map(Value::Array).collect()))
    };
    "unsafe_split"("input", "split_size", "dim") "all dtypes" => |args| {
        let parts = args.tensor("input")?.split(count(args, "split_size")?, args.int_or("dim", 0)?)?;
        Ok(Value::List(parts.into_iter().map(Value::Array).collect()))
    };
    "fill"("input", "value") "all dtypes" { in_place(Elements) } => |args| Ok(args.tensor("input")?.fill(args.operand("value")?)?.into());
};
