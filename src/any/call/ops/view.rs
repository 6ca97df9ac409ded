//! Views by name.
//! Uses `view::views`, `layout`.

use super::named;
use crate::any::AnyTensor;
use crate::any::call::{Bound, NamedOp, Value};
use crate::any::view::views::axis;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::MemoryFormat;

/// Sizes that are not negative.
fn sizes(args: &Bound<'_>, name: &str) -> Result<Vec<usize>> {
    args.ints(name)?.into_iter().map(|size| unsigned(args.op, name, size)).collect()
}

fn unsigned(op: &'static str, name: &str, value: i64) -> Result<usize> {
    usize::try_from(value).map_err(|_| Error::InvalidArgument {
        op,
        reason: format!("argument `{name}` must not be negative, got {value}"),
    })
}

fn list(tensors: Vec<AnyTensor>) -> Value {
    Value::List(tensors.into_iter().map(Value::Array).collect())
}

fn shape_of(tensor: &AnyTensor) -> Vec<i64> {
    tensor.shape().iter().map(|&size| size as i64).collect()
}

pub(super) const OPS: &[NamedOp] = named! {
    "view"("input", "*shape") "all dtypes" => |args| {
        let input = args.tensor("input")?;
        match args.dtype_or_none("*shape") {
            Ok(Some(dtype)) => input.view_dtype(dtype).map(Value::Array),
            _ => match args.rest_dtype() {
                Some(dtype) => input.view_dtype(dtype).map(Value::Array),
                None => input.view(&args.rest_ints("*shape")?).map(Value::Array),
            },
        }
    };
    "reshape"("input", "*shape") "all dtypes" => |args| {
        Ok(args.tensor("input")?.reshape(&args.rest_ints("*shape")?)?.into())
    };
    "view_as"("input", "other") "all dtypes" => |args| {
        Ok(args.tensor("input")?.view(&shape_of(args.tensor("other")?))?.into())
    };
    "reshape_as"("input", "other") "all dtypes" => |args| {
        Ok(args.tensor("input")?.reshape(&shape_of(args.tensor("other")?))?.into())
    };
    "expand"("input", "*size") "all dtypes" => |args| {
        Ok(args.tensor("input")?.expand(&args.rest_ints("*size")?)?.into())
    };
    "broadcast_to"("input", "size") "all dtypes" => |args| {
        Ok(args.tensor("input")?.expand(&args.ints("size")?)?.into())
    };
    "expand_as"("input", "other") "all dtypes" => |args| {
        Ok(args.tensor("input")?.expand(&shape_of(args.tensor("other")?))?.into())
    };
    "permute"("input", "*dims") "all dtypes" => |args| {
        Ok(args.tensor("input")?.permute(&args.rest_ints("*dims")?)?.into())
    };
    "transpose"("input", "dim0", "dim1") "all dtypes" { in_place(View) aliases(&["swapaxes", "swapdims"]) } => |args| {
        Ok(args.tensor("input")?.transpose(args.int("dim0")?, args.int("dim1")?)?.into())
    };
    "t"("input") "all dtypes" { in_place(View) } => |args| Ok(args.tensor("input")?.t()?.into());
    "T"("input") "all dtypes" => |args| {
        let input = args.tensor("input")?;
        Ok(input.permute(&(0..input.rank() as i64).rev().collect::<Vec<_>>())?.into())
    };
    "mT"("input") "all dtypes" => |args| {
        let input = args.tensor("input")?;
        if input.rank() == 0 {
            return Ok(input.clone().into());
        }
        if input.rank() < 2 {
            let reason = format!("matrices are wanted, got a tensor with {} axes", input.rank());
            return Err(Error::InvalidArgument { op: "mT", reason });
        }
        Ok(input.transpose(-2, -1)?.into())
    };
    "movedim"("input", "source", "destination") "all dtypes" { aliases(&["moveaxis"]) } => |args| {
        Ok(args.tensor("input")?.movedim(&args.ints("source")?, &args.ints("destination")?)?.into())
    };
    "squeeze"("input", "dim") "all dtypes" { in_place(View) } => |args| {
        Ok(args.tensor("input")?.squeeze(args.ints_or_none("dim")?.as_deref())?.into())
    };
    "unsqueeze"("input", "dim") "all dtypes" { in_place(View) } => |args| Ok(args.tensor("input")?.unsqueeze(args.int("dim")?)?.into());
    "select"("input", "dim", "index") "all dtypes" => |args| {
        Ok(args.tensor("input")?.select(args.int("dim")?, args.int("index")?)?.into())
    };
    "narrow"("input", "dim", "start", "length") "all dtypes" => |args| {
        let len = unsigned(args.op, "length", args.int("length")?)?;
        Ok(args.tensor("input")?.narrow(args.int("dim")?, args.int("start")?, len)?.into())
    };
    "narrow_copy"("input", "dim", "start", "length") "all dtypes" => |args| {
        let len = unsigned(args.op, "length", args.int("length")?)?;
        Ok(args.tensor("input")?.narrow(args.int("dim")?, args.int("start")?, len)?.copy()?.into())
    };
    "slice"("input", "dim", "start", "end", "step") "all dtypes" => |args| {
        let (start, end) = (args.int_or_none("start")?, args.int_or_none("end")?);
        Ok(args.tensor("input")?.slice(args.int_or("dim", 0)?, start, end, args.int_or("step", 1)?)?.into())
    };
    "flatten"("input", "start_dim", "end_dim") "all dtypes" => |args| {
        Ok(args.tensor("input")?.flatten(args.int_or("start_dim", 0)?, args.int_or("end_dim", -1)?)?.into())
    };
    "unflatten"("input", "dim", "sizes") "all dtypes" => |args| {
        Ok(args.tensor("input")?.unflatten(args.int("dim")?, &args.ints("sizes")?)?.into())
    };
    "ravel"("input") "all dtypes" => |args| {
        let input = args.tensor("input")?.contiguous()?;
        Ok(input.reshape(&[input.numel() as i64])?.into())
    };
    "resolve_conj"("input") "all dtypes" => |args| Ok(args.tensor("input")?.resolve_conj()?.into());
    "resolve_neg"("input") "all dtypes" => |args| Ok(args.tensor("input")?.resolve_neg()?.into());
    "unfold"("input", "dimension", "size", "step") "all dtypes" => |args| {
        let [size, step] = ["size", "step"].map(|name| args.int(name).and_then(|value| unsigned(args.op, name, value)));
        Ok(args.tensor("input")?.unfold(args.int("dimension")?, size?, step?)?.into())
    };
    "diagonal"("input", "offset", "dim1", "dim2") "all dtypes" => |args| {
        let (a, b) = (args.int_or("dim1", 0)?, args.int_or("dim2", 1)?);
        Ok(args.tensor("input")?.diagonal(args.int_or("offset", 0)?, a, b)?.into())
    };
    "linalg.diagonal"("input", "offset", "dim1", "dim2") "all dtypes" => |args| {
        let (a, b) = (args.int_or("dim1", -2)?, args.int_or("dim2", -1)?);
        Ok(args.tensor("input")?.diagonal(args.int_or("offset", 0)?, a, b)?.into())
    };
    "as_strided"("input", "size", "stride", "storage_offset") "all dtypes" { in_place(View) } => |args| {
        let offset = args.int_or_none("storage_offset")?;
        let offset = offset.map(|offset| unsigned(args.op, "storage_offset", offset)).transpose()?;
        Ok(args.tensor("input")?.as_strided(&sizes(args, "size")?, &sizes(args, "stride")?, offset)?.into())
    };
    "split"("input", "split_size_or_sections", "dim") "all dtypes" => |args| {
        let (input, dim) = (args.tensor("input")?, args.int_or("dim", 0)?);
        Ok(list(match args.value("split_size_or_sections")? {
            Value::List(_) => input.split_with_sizes(&sizes(args, "split_size_or_sections")?, dim)?,
            _ => input.split(unsigned(args.op, "split_size", args.int("split_size_or_sections")?)?, dim)?,
        }))
    };
    "split_with_sizes"("input", "split_sizes", "dim") "all dtypes" => |args| {
        Ok(list(args.tensor("input")?.split_with_sizes(&sizes(args, "split_sizes")?, args.int_or("dim", 0)?)?))
    };
    "chunk"("input", "chunks", "dim") "all dtypes" => |args| {
        let chunks = unsigned(args.op, "chunks", args.int("chunks")?)?;
        Ok(list(args.tensor("input")?.chunk(chunks, args.int_or("dim", 0)?)?))
    };
    "tensor_split"("input", "indices_or_sections", "dim") "all dtypes" => |args| {
        let (input, dim) = (args.tensor("input")?, args.int_or("dim", 0)?);
        let at = axis(args.op, dim, input.rank())?;
        if input.rank() == 0 {
            return Err(too_few(args.op, 1, input));
        }
        split_at(args, input, at as i64, false)
    };
    "hsplit"("input", "indices_or_sections") "all dtypes" => |args| {
        let input = args.tensor("input")?;
        if input.rank() == 0 {
            return Err(too_few(args.op, 1, input));
        }
        split_at(args, input, i64::from(input.rank() > 1), true)
    };
    "vsplit"("input", "indices_or_sections") "all dtypes" => |args| {
        let input = args.tensor("input")?;
        if input.rank() < 2 {
            return Err(too_few(args.op, 2, input));
        }
        split_at(args, input, 0, true)
    };
    "dsplit"("input", "indices_or_sections") "all dtypes" => |args| {
        let input = args.tensor("input")?;
        if input.rank() < 3 {
            return Err(too_few(args.op, 3, input));
        }
        split_at(args, input, 2, true)
    };
    "unbind"("input", "dim") "all dtypes" => |args| Ok(list(args.tensor("input")?.unbind(args.int_or("dim", 0)?)?));
    "view_as_real"("input") "complex" => |args| Ok(args.tensor("input")?.view_as_real()?.into());
    "view_as_complex"("input") "float16, float32 and float64" => |args| Ok(args.tensor("input")?.view_as_complex()?.into());
    "real"("input") "all computing dtypes" => |args| Ok(args.tensor("input")?.real()?.into());
    "imag"("input") "complex" => |args| Ok(args.tensor("input")?.imag()?.into());
    "contiguous"("input", "memory_format") "all dtypes" => |args| {
        Ok(args.tensor("input")?.contiguous_in(args.memory_format(MemoryFormat::CONTIGUOUS)?)?.into())
    };
    "detach"("input") "all dtypes" => |args| Ok(args.tensor("input")?.clone().into());
    "clone"("input", "memory_format") "all dtypes" => |args| {
        Ok(args.tensor("input")?.copy_in(args.memory_format(MemoryFormat::PRESERVE)?)?.into())
    };
    "atleast_1d"("*tensors") "all dtypes" => |args| at_least(args, 1);
    "atleast_2d"("*tensors") "all dtypes" => |args| at_least(args, 2);
    "atleast_3d"("*tensors") "all dtypes" => |args| at_least(args, 3);
};

fn too_few(op: &'static str, least: usize, input: &AnyTensor) -> Error {
    Error::InvalidArgument {
        op,
        reason: format!("a tensor with at least {least} axes is wanted, got one with {}", input.rank()),
    }
}

fn split_at(args: &Bound<'_>, input: &AnyTensor, dim: i64, equal: bool) -> Result<Value> {
    Ok(list(match args.value("indices_or_sections")? {
        Value::List(_) => input.tensor_split_at(&args.ints("indices_or_sections")?, dim)?,
        Value::Array(positions) if positions.dtype() != DType::I64 => {
            let reason = "positions and numbers of parts are int64".to_owned();
            return Err(Error::NotAdmitted { op: args.op, dtype: positions.dtype(), reason });
        }
        Value::Array(positions) if positions.rank() == 1 => {
            let positions = positions.to_ints(args.op)?;
            input.tensor_split_at(&positions, dim)?
        }
        _ => {
            let parts = unsigned(args.op, "indices_or_sections", args.int("indices_or_sections")?)?;
            let size = input.shape()[dim as usize];
            if equal && (parts == 0 || !size.is_multiple_of(parts)) {
                let reason = format!("{parts} parts of one size do not make up the {size} of axis {dim}");
                return Err(Error::InvalidArgument { op: args.op, reason });
            }
            input.tensor_split(parts, dim)?
        }
    }))
}

fn at_least(args: &Bound<'_>, rank: usize) -> Result<Value> {
    let raise = |mut x: AnyTensor| -> Result<AnyTensor> {
        if x.rank() < 1 && rank >= 1 {
            x = x.unsqueeze(0)?;
        }
        if x.rank() < 2 && rank >= 2 {
            x = x.unsqueeze(0)?;
        }
        if x.rank() < 3 && rank >= 3 {
            x = x.unsqueeze(-1)?;
        }
        Ok(x)
    };
    let mut raised = args.tensors("*tensors")?.into_iter().map(raise).collect::<Result<Vec<_>>>()?;
    match (args.is_list("*tensors"), raised.len()) {
        (false, 1) => Ok(raised.remove(0).into()),
        _ => Ok(list(raised)),
    }
}
