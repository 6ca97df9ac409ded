//! Choosing and writing by conditions, masks and indices, by name.
//! Uses `index::scatter`.

use super::named;
use crate::any::AnyTensor;
use crate::any::call::{Bound, NamedOp, Value};
use crate::any::index::scatter::reduce_named;
use crate::error::{Error, Result};

fn list(tensors: Vec<AnyTensor>) -> Value {
    Value::List(tensors.into_iter().map(Value::Array).collect())
}

fn index_put(args: &Bound<'_>) -> Result<Value> {
    let Value::List(items) = args.value("indices")? else {
        return Err(args.wrong("indices", "a list of tensors", args.value("indices")?));
    };
    let mut indices = Vec::new();
    for item in items {
        match item {
            Value::Array(tensor) => indices.push(Some(tensor)),
            other => return Err(args.wrong("indices", "tensors", other)),
        }
    }
    let accumulate = args.bool_or("accumulate", false)?;
    Ok(args.tensor("input")?.index_put(&indices, args.tensor("values")?, accumulate)?.into())
}

fn embedding(args: &Bound<'_>) -> Result<Value> {
    let (index, weight) = (args.tensor("input")?, args.tensor("weight")?);
    Ok(match args.float_or_none("max_norm")? {
        None => weight.embedding(index)?.into(),
        Some(norm) => weight.embedding_within(index, norm, args.float_or("norm_type", 2.0)?)?.into(),
    })
}

fn scatter(args: &Bound<'_>) -> Result<Value> {
    let (input, dim, index) = (args.tensor("input")?, args.int("dim")?, args.tensor("index")?);
    let source = if args.is_given("src") { args.operand("src")? } else { args.operand("value")? };
    Ok(match args.str_or("reduce", "")? {
        "" => input.scatter(dim, index, source)?.into(),
        name @ ("add" | "multiply") => {
            input.scatter_combining(dim, index, &source, reduce_named(args.op, name)?)?.into()
        }
        other => {
            let reason = format!("`reduce` is `add` or `multiply`, got {other:?}");
            return Err(Error::InvalidArgument { op: args.op, reason });
        }
    })
}

pub(super) const OPS: &[NamedOp] = named! {
    "where"("condition", "input", "other") "all dtypes" => |args| {
        let condition = args.tensor("condition")?;
        if !args.is_given("input") && !args.is_given("other") {
            return Ok(list(condition.nonzero_tuple()?));
        }
        Ok(crate::any::where_(condition, args.operand("input")?, args.operand("other")?)?.into())
    };
    "masked_fill"("input", "mask", "value") "all dtypes" => |args| {
        Ok(args.tensor("input")?.masked_fill(args.tensor("mask")?, args.operand("value")?)?.into())
    };
    "masked_select"("input", "mask") "all dtypes" => |args| {
        Ok(args.tensor("input")?.masked_select(args.tensor("mask")?)?.into())
    };
    "masked_scatter"("input", "mask", "source") "all dtypes" => |args| {
        Ok(args.tensor("input")?.masked_scatter(args.tensor("mask")?, args.tensor("source")?)?.into())
    };
    "nonzero"("input", "as_tuple") "all dtypes" => |args| {
        let input = args.tensor("input")?;
        Ok(if args.bool_or("as_tuple", false)? { list(input.nonzero_tuple()?) } else { input.nonzero()?.into() })
    };
    "argwhere"("input") "all dtypes" => |args| Ok(args.tensor("input")?.nonzero()?.into());
    "nonzero_static"("input", "size", "fill_value") "all dtypes" => |args| {
        let size = args.int("size")?;
        let size = usize::try_from(size).map_err(|_| Error::InvalidArgument {
            op: args.op,
            reason: format!("argument `size` must not be negative, got {size}"),
        })?;
        Ok(args.tensor("input")?.nonzero_static(size, args.int_or("fill_value", -1)?)?.into())
    };
    "index_select"("input", "dim", "index") "all dtypes" => |args| {
        Ok(args.tensor("input")?.index_select(args.int("dim")?, args.tensor("index")?)?.into())
    };
    "gather"("input", "dim", "index", "sparse_grad") "all dtypes" => |args| {
        Ok(args.tensor("input")?.gather(args.int("dim")?, args.tensor("index")?)?.into())
    };
    "take"("input", "index") "all dtypes" => |args| Ok(args.tensor("input")?.take(args.tensor("index")?)?.into());
    "take_along_dim"("input", "indices", "dim") "all dtypes" => |args| {
        Ok(args.tensor("input")?.take_along_dim(args.tensor("indices")?, args.int_or_none("dim")?)?.into())
    };
    "nn.functional.embedding"("input", "weight", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse")
        "all dtypes; floats and complex with `max_norm`" => embedding;
    "nn.functional.one_hot"("tensor", "num_classes") "int64" => |args| {
        let classes = usize::try_from(args.int_or("num_classes", -1)?).ok();
        Ok(args.tensor("tensor")?.one_hot(classes)?.into())
    };
    "index_put"("input", "indices", "values", "accumulate") "all dtypes" => index_put;
    "scatter"("input", "dim", "index", "src", "value", "reduce") "all dtypes" => scatter;
    "scatter_add"("input", "dim", "index", "src") "all computing dtypes" => |args| {
        Ok(args.tensor("input")?.scatter_add(args.int("dim")?, args.tensor("index")?, args.tensor("src")?)?.into())
    };
    "scatter_reduce"("input", "dim", "index", "src", "reduce", "include_self") "all computing dtypes" => |args| {
        let (input, dim, reduce) = (args.tensor("input")?, args.int("dim")?, reduce_named(args.op, args.str_or("reduce", "")?)?);
        let include = args.bool_or("include_self", true)?;
        Ok(input.scatter_reduce(dim, args.tensor("index")?, args.tensor("src")?, reduce, include)?.into())
    };
    "index_copy"("input", "dim", "index", "source") "all dtypes" => |args| {
        Ok(args.tensor("input")?.index_copy(args.int("dim")?, args.tensor("index")?, args.tensor("source")?)?.into())
    };
    "index_add"("input", "dim", "index", "source", "alpha") "all computing dtypes" => |args| {
        let (dim, index, source) = (args.int("dim")?, args.tensor("index")?, args.tensor("source")?);
        let alpha = args.scalar_or("alpha", crate::ScalarValue::Int(1))?;
        Ok(args.tensor("input")?.index_add_scalar(dim, index, source, alpha)?.into())
    };
    "index_fill"("input", "dim", "index", "value") "all dtypes" => |args| {
        Ok(args.tensor("input")?.index_fill(args.int("dim")?, args.tensor("index")?, args.operand("value")?)?.into())
    };
    "index_reduce"("input", "dim", "index", "source", "reduce", "include_self") "integers and floats" => |args| {
        let (input, dim, reduce) = (args.tensor("input")?, args.int("dim")?, reduce_named(args.op, args.str_or("reduce", "")?)?);
        let include = args.bool_or("include_self", true)?;
        Ok(input.index_reduce(dim, args.tensor("index")?, args.tensor("source")?, reduce, include)?.into())
    };
    "put"("input", "index", "source", "accumulate") "all dtypes" => |args| {
        let accumulate = args.bool_or("accumulate", false)?;
        Ok(args.tensor("input")?.put(args.tensor("index")?, args.tensor("source")?, accumulate)?.into())
    };
};
