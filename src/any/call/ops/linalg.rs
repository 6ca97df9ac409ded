//! Products by name.
//! Uses `linalg::matmul`.

use super::named;
use crate::any::call::{Bound, NamedOp, Value};
use crate::any::linalg::matmul::Operands;
use crate::any::linalg::matrix_power;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result};

/// The axes that `dims` of `tensordot` names: so many last and first ones, or two lists.
fn tensordot(args: &Bound<'_>) -> Result<Value> {
    let (a, b) = (args.tensor("a")?, args.tensor("b")?);
    if let Some(Value::List(lists)) = args.get("dims") {
        let axes = |list: &Value| match list {
            Value::List(items) => items.iter().map(|item| args.as_int("dims", item)).collect::<Result<Vec<_>>>(),
            one => Ok(vec![args.as_int("dims", one)?]),
        };
        let [left, right] = &lists[..] else {
            return Err(args.wrong("dims", "two lists of axes", args.value("dims")?));
        };
        return Ok(a.tensordot(b, &axes(left)?, &axes(right)?)?.into());
    }
    let count = args.int_or("dims", 2)?;
    if count < 0 || count > a.rank().min(b.rank()) as i64 {
        let reason = format!("{count} axes are wanted of tensors with {} and {}", a.rank(), b.rank());
        return Err(Error::InvalidArgument { op: args.op, reason });
    }
    let first = a.rank() as i64 - count;
    Ok(a.tensordot(b, &(first..first + count).collect::<Vec<_>>(), &(0..count).collect::<Vec<_>>())?.into())
}

/// `beta * input + alpha * product`
fn added(args: &Bound<'_>, operands: Operands, [a, b]: [&str; 2]) -> Result<Value> {
    let (beta, alpha) = (args.scalar_or("beta", ScalarValue::Int(1))?, args.scalar_or("alpha", ScalarValue::Int(1))?);
    Ok(args.tensor("input")?.added(operands, args.tensor(a)?, args.tensor(b)?, [beta, alpha])?.into())
}

pub(super) const OPS: &[NamedOp] = named! {
    "matmul"("input", "other") "all computing dtypes but bool" { aliases(&["__matmul__"]) } => |args| {
        Ok(args.tensor("input")?.matmul(args.tensor("other")?)?.into())
    };
    "__rmatmul__"("input", "other") "all computing dtypes but bool" => |args| {
        Ok(args.tensor("other")?.matmul(args.tensor("input")?)?.into())
    };
    "mm"("input", "mat2") "all computing dtypes but bool" => |args| {
        Ok(args.tensor("input")?.mm(args.tensor("mat2")?)?.into())
    };
    "bmm"("input", "mat2") "all computing dtypes but bool" => |args| {
        Ok(args.tensor("input")?.bmm(args.tensor("mat2")?)?.into())
    };
    "mv"("input", "vec") "all computing dtypes but bool" => |args| {
        Ok(args.tensor("input")?.mv(args.tensor("vec")?)?.into())
    };
    "dot"("input", "tensor") "all computing dtypes but bool" => |args| {
        Ok(args.tensor("input")?.dot(args.tensor("tensor")?)?.into())
    };
    "vdot"("input", "other") "all computing dtypes but bool" => |args| {
        Ok(args.tensor("input")?.vdot(args.tensor("other")?)?.into())
    };
    "linalg.vecdot"("x", "y", "dim") "floats and complex" => |args| {
        Ok(args.tensor("x")?.vecdot(args.tensor("y")?, args.int_or("dim", -1)?)?.into())
    };
    "outer"("input", "vec2") "all computing dtypes" { aliases(&["ger"]) } => |args| {
        Ok(args.tensor("input")?.outer(args.tensor("vec2")?)?.into())
    };
    "inner"("input", "other") "all computing dtypes but bool" => |args| {
        Ok(args.tensor("input")?.inner(args.tensor("other")?)?.into())
    };
    "kron"("input", "other") "all computing dtypes" => |args| {
        Ok(args.tensor("input")?.kron(args.tensor("other")?)?.into())
    };
    "tensordot"("a", "b", "dims") "all computing dtypes but bool" => tensordot;
    "addmm"("input", "mat1", "mat2", "beta", "alpha") "all computing dtypes but bool" => |args| {
        added(args, Operands::Matrices, ["mat1", "mat2"])
    };
    "addmv"("input", "mat", "vec", "beta", "alpha") "all computing dtypes but bool" => |args| added(args, Operands::MatrixAndVector, ["mat", "vec"]);
    "addr"("input", "vec1", "vec2", "beta", "alpha") "all computing dtypes" => |args| added(args, Operands::Vectors, ["vec1", "vec2"]);
    "addbmm"("input", "batch1", "batch2", "beta", "alpha") "all computing dtypes but bool" => |args| {
        added(args, Operands::SummedBatches, ["batch1", "batch2"])
    };
    "baddbmm"("input", "batch1", "batch2", "beta", "alpha") "all computing dtypes but bool" => |args| {
        added(args, Operands::Batches, ["batch1", "batch2"])
    };
    "linalg.multi_dot"("tensors") "all computing dtypes but bool" => |args| {
        Ok(matrix_power::multi_dot(&args.tensors("tensors")?)?.into())
    };
    "linalg.matrix_power"("input", "n") "all computing dtypes but bool" => |args| {
        Ok(args.tensor("input")?.matrix_power(args.int("n")?)?.into())
    };
    "vander"("x", "N", "increasing") "all computing dtypes but complex32" => |args| {
        let increasing = args.bool_or("increasing", false)?;
        Ok(args.tensor("x")?.vander_rows(args.int_or_none("N")?, increasing)?.into())
    };
    "linalg.vander"("x", "N") "integers, floats and complex of 32 bits or more" => |args| {
        Ok(args.tensor("x")?.vander(args.int_or_none("N")?)?.into())
    };
    "nn.functional.linear"("input", "weight", "bias") "all computing dtypes but bool" => |args| {
        Ok(args.tensor("input")?.linear(args.tensor("weight")?, args.tensor_or_none("bias")?)?.into())
    };
    "nn.functional.bilinear"("input1", "input2", "weight", "bias") "all computing dtypes but bool" => |args| {
        let (weight, bias) = (args.tensor("weight")?, args.tensor_or_none("bias")?);
        Ok(args.tensor("input1")?.bilinear(args.tensor("input2")?, weight, bias)?.into())
    };
};
