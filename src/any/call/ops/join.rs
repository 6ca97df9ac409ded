//! FromParts by name.

use super::named;
use crate::any::call::{NamedOp, Value};
use crate::any::{AnyTensor, join::cat_stack};
use crate::error::Error;

fn list(tensors: Vec<AnyTensor>) -> Value {
    Value::List(tensors.into_iter().map(Value::Array).collect())
}

pub(super) const OPS: &[NamedOp] = named! {
    "cat"("tensors", "dim") "all dtypes" { output(Castable) aliases(&["concat", "concatenate"]) } => |args| {
        Ok(cat_stack::cat(&args.tensors("tensors")?, args.int_or("dim", 0)?)?.into())
    };
    "stack"("tensors", "dim") "all dtypes" { output(Castable) } => |args| {
        Ok(cat_stack::stack(&args.tensors("tensors")?, args.int_or("dim", 0)?)?.into())
    };
    "hstack"("tensors") "all dtypes" { output(Castable) } => |args| Ok(cat_stack::hstack(&args.tensors("tensors")?)?.into());
    "vstack"("tensors") "all dtypes" { output(Castable) aliases(&["row_stack"]) } => |args| Ok(cat_stack::vstack(&args.tensors("tensors")?)?.into());
    "dstack"("tensors") "all dtypes" { output(Castable) } => |args| Ok(cat_stack::dstack(&args.tensors("tensors")?)?.into());
    "column_stack"("tensors") "all dtypes" { output(Castable) } => |args| Ok(cat_stack::column_stack(&args.tensors("tensors")?)?.into());
    "block_diag"("*tensors") "all dtypes" => |args| Ok(cat_stack::block_diag(&args.tensors("*tensors")?)?.into());
    "broadcast_tensors"("*tensors") "all dtypes" => |args| {
        Ok(list(cat_stack::broadcast_tensors(&args.tensors("*tensors")?)?))
    };
    "meshgrid"("*tensors", "indexing") "all dtypes" => |args| {
        let (rest, indexing) = (args.tensors("*tensors")?, args.str_or("indexing", "ij")?);
        Ok(list(cat_stack::meshgrid(&rest, indexing)?))
    };
    "cartesian_prod"("*tensors") "all dtypes" => |args| Ok(cat_stack::cartesian_prod(&args.tensors("*tensors")?)?.into());
    "combinations"("input", "r", "with_replacement") "all dtypes" => |args| {
        let r = args.int_or("r", 2)?;
        let r = usize::try_from(r).map_err(|_| Error::InvalidArgument {
            op: args.op,
            reason: format!("argument `r` must not be negative, got {r}"),
        })?;
        Ok(args.tensor("input")?.combinations(r, args.bool_or("with_replacement", false)?)?.into())
    };
};
