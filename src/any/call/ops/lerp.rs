//! Operations of three operands, conversions and operators with exchanged operands, by name.
//! Uses `elementwise::op_table`, `elementwise::apply`, `elementwise::lerp`, `layout`.

use super::named;
use crate::any::AnyTensor;
use crate::any::call::{Bound, NamedOp, Value};
use crate::any::elementwise::apply::combine;
use crate::any::elementwise::lerp::Term;
use crate::any::elementwise::op_table::{BinaryRow, binary};
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result};
use crate::layout::MemoryFormat;

/// A conversion, in the memory format asked for.
fn convert(args: &Bound<'_>, dtype: DType) -> Result<Value> {
    Ok(args.tensor("input")?.to_in(dtype, args.memory_format(MemoryFormat::PRESERVE)?)?.into())
}

/// `to(dtype)`, `to(device)`, `to(device, dtype)`, `to(other)`, each with `non_blocking` and `copy` behind.
fn to(args: &Bound<'_>) -> Result<Value> {
    let input = args.tensor("input")?;
    let mut dtype = args.dtype_or_none("dtype")?;
    let mut device = args.get("device").map(|_| args.str_or("device", "")).transpose()?;
    let mut flags = Vec::new();
    for value in args.rest() {
        match value {
            Value::Type(of) => dtype = Some(*of),
            Value::Str(name) => device = Some(name),
            Value::Array(other) => (dtype, device) = (Some(other.dtype()), Some(other.device_name())),
            Value::Number(ScalarValue::Bool(flag)) => flags.push(*flag),
            Value::Absent => {}
            other => return Err(args.wrong("other", "a dtype, a device or a tensor", other)),
        }
    }
    let copy = args.bool_or("copy", flags.get(1).copied().unwrap_or(false))?;
    let converted = input.to_in(dtype.unwrap_or(input.dtype()), args.memory_format(MemoryFormat::PRESERVE)?)?;
    let moved = match device {
        None => converted,
        Some(name) if name == converted.device_name() => converted,
        Some("meta") => AnyTensor::meta(converted.shape(), converted.dtype())?,
        Some("cpu") => return Err(Error::NoData { op: args.op }),
        Some(other) => {
            return Err(Error::InvalidArgument { op: args.op, reason: format!("there is no device {other:?}") });
        }
    };
    Ok(if copy && moved.shares_storage(input) { moved.copy()? } else { moved }.into())
}

/// `other op input`
fn reversed(args: &Bound<'_>, row: &'static BinaryRow) -> Result<Value> {
    Ok(combine(row, &args.operand("other")?, &args.operand("input")?)?.into())
}

fn weighted(args: &Bound<'_>, term: Term) -> Result<Value> {
    let value = args.scalar_or("value", ScalarValue::Int(1))?;
    Ok(args.tensor("input")?.plus(term, args.tensor("tensor1")?, args.tensor("tensor2")?, value)?.into())
}

fn adjoint(args: &Bound<'_>, matrix: bool) -> Result<Value> {
    let input = args.tensor("input")?;
    if matrix && !matches!(input.rank(), 0 | 2) {
        let reason = format!("a matrix is wanted, got a tensor with {} axes", input.rank());
        return Err(Error::InvalidArgument { op: args.op, reason });
    }
    Ok(input.adjoint()?.into())
}

pub(super) const OPS: &[NamedOp] = named! {
    "lerp"("input", "end", "weight") "floats and complex" => |args| {
        Ok(args.tensor("input")?.lerp(args.tensor("end")?, args.operand("weight")?)?.into())
    };
    "addcmul"("input", "tensor1", "tensor2", "value") "all computing dtypes but bool" { output(Castable) } => |args| weighted(args, Term::Product);
    "addcdiv"("input", "tensor1", "tensor2", "value") "floats and complex" { output(Castable) } => |args| weighted(args, Term::Quotient);
    "complex"("real", "imag") "float16, float32 and float64" => |args| {
        Ok(args.tensor("real")?.complex(args.tensor("imag")?)?.into())
    };
    "polar"("abs", "angle") "float32 and float64" => |args| Ok(args.tensor("abs")?.polar(args.tensor("angle")?)?.into());
    "H"("input") "all dtypes" => |args| adjoint(args, true);
    "mH"("input") "all dtypes" => |args| adjoint(args, false);
    "adjoint"("input") "all dtypes" => |args| adjoint(args, false);
    "to"("input", "*rest", "dtype", "device", "copy", "non_blocking", "memory_format") "all dtypes" => to;
    "type_as"("input", "other") "all dtypes" => |args| {
        Ok(args.tensor("input")?.to(args.tensor("other")?.dtype())?.into())
    };
    "bool"("input", "memory_format") "all dtypes" => |args| convert(args, DType::Bool);
    "byte"("input", "memory_format") "all dtypes" => |args| convert(args, DType::U8);
    "char"("input", "memory_format") "all dtypes" => |args| convert(args, DType::I8);
    "short"("input", "memory_format") "all dtypes" => |args| convert(args, DType::I16);
    "int"("input", "memory_format") "all dtypes" => |args| convert(args, DType::I32);
    "long"("input", "memory_format") "all dtypes" => |args| convert(args, DType::I64);
    "half"("input", "memory_format") "all dtypes" => |args| convert(args, DType::F16);
    "bfloat16"("input", "memory_format") "all dtypes" => |args| convert(args, DType::BF16);
    "float"("input", "memory_format") "all dtypes" => |args| convert(args, DType::F32);
    "double"("input", "memory_format") "all dtypes" => |args| convert(args, DType::F64);
    "chalf"("input", "memory_format") "all dtypes" => |args| convert(args, DType::C32);
    "cfloat"("input", "memory_format") "all dtypes" => |args| convert(args, DType::C64);
    "cdouble"("input", "memory_format") "all dtypes" => |args| convert(args, DType::C128);
    "item"("input") "all dtypes" => |args| Ok(args.tensor("input")?.item()?.into());
    "__radd__"("input", "other") "all computing dtypes" => |args| reversed(args, binary::add);
    "__rsub__"("input", "other") "all computing dtypes but bool" => |args| reversed(args, binary::sub);
    "__rmul__"("input", "other") "all computing dtypes" => |args| reversed(args, binary::mul);
    "__rdiv__"("input", "other") "all computing dtypes" => |args| reversed(args, binary::div);
    "__rmod__"("input", "other") "integers and floats" => |args| reversed(args, binary::remainder);
    "__rpow__"("input", "other") "all computing dtypes but bool" => |args| reversed(args, binary::pow);
    "__rand__"("input", "other") "bool and integers" => |args| reversed(args, binary::bitwise_and);
    "__ror__"("input", "other") "bool and integers" => |args| reversed(args, binary::bitwise_or);
    "__rxor__"("input", "other") "bool and integers" => |args| reversed(args, binary::bitwise_xor);
};
