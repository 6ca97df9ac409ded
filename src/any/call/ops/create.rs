//! Making tensors by name, and dtypes.
//! Uses `device`, `layout`, `base::operand`, `base::as_typed`.

use super::named;
use crate::any::AnyTensor;
use crate::any::base::as_typed::Rank1;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::base::operand::{default_float, scalar_dtype};
use crate::any::call::{Bound, NamedOp, Value};
use crate::device::{AnyDevice, default_device};
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result};
use crate::layout::MemoryFormat;
use crate::{Cpu, Tensor, shape};

fn invalid(op: &'static str, reason: String) -> Error {
    Error::InvalidArgument { op, reason }
}

/// Sizes, which are not negative.
fn sizes(args: &Bound<'_>, values: Vec<i64>) -> Result<Vec<usize>> {
    let size = |value: i64| usize::try_from(value).map_err(|_| invalid(args.op, format!("size {value} is negative")));
    values.into_iter().map(size).collect()
}

/// The device that is asked for, or else this one.
fn device_or(args: &Bound<'_>, default: AnyDevice) -> Result<AnyDevice> {
    if args.is_given("device") { AnyDevice::new(args.str_or("device", "cpu")?) } else { Ok(default) }
}

/// What was computed on the host, on the device that is asked for, or the default one.
fn placed(args: &Bound<'_>, tensor: AnyTensor) -> Result<AnyTensor> {
    tensor.to_device(device_or(args, default_device())?)
}

fn dtype_or(args: &Bound<'_>, default: DType) -> Result<DType> {
    Ok(args.dtype_or_none("dtype")?.unwrap_or(default))
}

fn filled(op: &'static str, sizes: &[usize], value: ScalarValue, dtype: DType, device: AnyDevice) -> Result<AnyTensor> {
    let mut tensor = AnyTensor::zeros_on(sizes, dtype, device)?;
    if !matches!(value, ScalarValue::Bool(false)) {
        tensor.fill_value(op, value)?;
    }
    Ok(tensor)
}

fn of_sizes(args: &Bound<'_>, value: ScalarValue) -> Result<Value> {
    let sizes = sizes(args, args.rest_ints("*size")?)?;
    Ok(filled(args.op, &sizes, value, dtype_or(args, default_float())?, device_or(args, default_device())?)?.into())
}

/// The dtype of a tensor filled with a scalar. (Complex ones have no halves here, though they have where a literal is written.)
fn full_dtype(value: ScalarValue) -> DType {
    match value {
        ScalarValue::Complex(_) if default_float() != DType::F64 => DType::C64,
        value => scalar_dtype(value),
    }
}

/// With the sizes, the layout and, unless another is given, the dtype of the input.
fn like(args: &Bound<'_>, value: ScalarValue) -> Result<Value> {
    let input = args.tensor("input")?;
    let dtype = dtype_or(args, input.dtype())?;
    let mut tensor = AnyTensor::like(input, dtype, args.memory_format(MemoryFormat::PRESERVE)?)?;
    if !matches!(value, ScalarValue::Bool(false)) {
        tensor.fill_value(args.op, value)?;
    }
    Ok(tensor.to_device(device_or(args, input.device())?)?.into())
}

fn new(args: &Bound<'_>, value: ScalarValue) -> Result<Value> {
    let input = args.tensor("input")?;
    let dtype = dtype_or(args, input.dtype())?;
    let sizes = sizes(args, args.ints("size")?)?;
    Ok(filled(args.op, &sizes, value, dtype, device_or(args, input.device())?)?.into())
}

/// Runs with numbers that are all integers, or all floats.
macro_rules! numbers {
    ($op:expr, [$($value:ident),*] => $run:expr) => {{
        if [$($value),*].iter().any(|value| matches!(value, ScalarValue::Complex(_))) {
            Err(invalid($op, "complex numbers have no order".to_owned()))
        } else if [$($value),*].iter().all(|value| matches!(value, ScalarValue::Int(_) | ScalarValue::Bool(_))) {
            $(let $value = whole($op, $value)?;)*
            $run
        } else {
            $(let $value = $value.real_part();)*
            $run
        }
    }};
}

fn whole(op: &'static str, value: ScalarValue) -> Result<i64> {
    match value {
        ScalarValue::Int(value) => {
            i64::try_from(value).map_err(|_| invalid(op, format!("the argument {value} is out of range")))
        }
        other => Ok(other.real_part() as i64),
    }
}

fn arange(args: &Bound<'_>) -> Result<Value> {
    let op = "arange";
    let (start, end) = match (args.is_given("start"), args.is_given("end")) {
        (true, false) => (ScalarValue::Int(0), args.scalar("start")?),
        (false, true) => (ScalarValue::Int(0), args.scalar("end")?),
        _ => (args.scalar("start")?, args.scalar("end")?),
    };
    let step = args.scalar_or("step", ScalarValue::Int(1))?;
    let whole = [start, end, step].iter().all(|value| matches!(value, ScalarValue::Int(_) | ScalarValue::Bool(_)));
    let dtype = dtype_or(args, if whole { DType::I64 } else { default_float() })?;
    let range = dispatch_dtype!(op, dtype, E: Real => {
        numbers!(op, [start, end, step] => Ok(AnyTensor::from(Tensor::<E, Rank1, Cpu>::try_arange(start, end, step)?)))
    })?;
    Ok(placed(args, range)?.into())
}

fn linspace(args: &Bound<'_>) -> Result<Value> {
    let (op, start, end) = ("linspace", args.scalar("start")?, args.scalar("end")?);
    let steps = [sizes(args, vec![args.int("steps")?])?[0]];
    let dtype = dtype_or(args, default_float())?;
    if steps == [0] && dtype == DType::Bool {
        // PyTorch accepts bools where nothing is counted.
        return Ok(placed(args, AnyTensor::on_host(&steps, dtype)?)?.into());
    }
    let space = dispatch_dtype!(op, dtype.to_real(), E: Real => {
        numbers!(op, [start, end] => Ok(AnyTensor::from(Tensor::<E, Rank1, Cpu>::try_linspace_sized(steps, start, end)?)))
    })?;
    Ok(placed(args, space.to(dtype)?)?.into())
}

fn logspace(args: &Bound<'_>) -> Result<Value> {
    let (op, start, end) = ("logspace", args.scalar("start")?, args.scalar("end")?);
    let (base, steps) = (args.float_or("base", 10.0)?, [sizes(args, vec![args.int("steps")?])?[0]]);
    let dtype = dtype_or(args, default_float())?;
    let space = dispatch_dtype!(op, dtype.to_real(), E: Real => {
        numbers!(op, [start, end] => {
            Ok(AnyTensor::from(Tensor::<E, Rank1, Cpu>::try_logspace_sized(steps, start, end, base)?))
        })
    })?;
    Ok(placed(args, space.to(dtype)?)?.into())
}

fn eye(args: &Bound<'_>) -> Result<Value> {
    let rows = sizes(args, vec![args.int("n")?])?[0];
    let columns = sizes(args, vec![args.int_or("m", rows as i64)?])?[0];
    let mut matrix = AnyTensor::on_host(&[rows, columns], dtype_or(args, default_float())?)?;
    matrix.fill_diagonal()?;
    Ok(placed(args, matrix)?.into())
}

/// The rows and columns of places.
type Places = Tensor<i64, shape![2, _]>;

/// The rows and columns of the elements of a triangle.
fn triangle(args: &Bound<'_>, places: fn(usize, usize, isize) -> Result<Places>) -> Result<Value> {
    let [rows, columns] = ["row", "col"].map(|name| args.int(name).and_then(|size| Ok(sizes(args, vec![size])?[0])));
    let (rows, columns, offset) = (rows?, columns?, args.int_or("offset", 0)?);
    let dtype = dtype_or(args, DType::I64)?;
    if !matches!(dtype, DType::I32 | DType::I64) {
        let reason = "indices are int32 or int64".to_owned();
        return Err(Error::NotAdmitted { op: args.op, dtype, reason });
    }
    // An offset beyond `isize` is outside of every matrix, so it is clamped.
    let offset = isize::try_from(offset).unwrap_or(if offset < 0 { isize::MIN } else { isize::MAX });
    let indices = AnyTensor::from(places(rows, columns, offset)?);
    Ok(placed(args, indices.to(dtype)?)?.into())
}

/// The scalars of nested lists, which are as long as each other, and the sizes.
fn nested(
    args: &Bound<'_>,
    data: &Value,
    depth: usize,
    sizes: &mut Vec<usize>,
    into: &mut Vec<ScalarValue>,
) -> Result<()> {
    let ragged = || invalid(args.op, "lists beside each other must be equally long".to_owned());
    match data {
        Value::List(items) => {
            match sizes.get(depth) {
                Some(&size) if size != items.len() => return Err(ragged()),
                Some(_) => {}
                // A scalar at this depth, or an empty list above it: the lists are ragged.
                None if !into.is_empty() || sizes.len() != depth => return Err(ragged()),
                None => sizes.push(items.len()),
            }
            items.iter().try_for_each(|item| nested(args, item, depth + 1, sizes, into))
        }
        _ if sizes.len() != depth => Err(ragged()),
        Value::Number(value) => {
            into.push(*value);
            Ok(())
        }
        other => Err(args.wrong("data", "scalars in lists", other)),
    }
}

/// `torch.tensor`: a tensor's copy, or scalars in lists, of whose dtypes the widest category counts.
fn tensor(args: &Bound<'_>) -> Result<Value> {
    let data = args.value("data")?;
    if let Value::Array(tensor) = data {
        return Ok(placed(args, tensor.to(dtype_or(args, tensor.dtype())?)?.copy()?)?.into());
    }
    let (mut sizes, mut scalars) = (Vec::new(), Vec::new());
    nested(args, data, 0, &mut sizes, &mut scalars)?;
    let widest = scalars.iter().map(|value| scalar_dtype(*value)).max_by_key(|dtype| dtype.category());
    let dtype = dtype_or(args, widest.unwrap_or(default_float()))?;
    if dtype.is_complex() && !args.is_given("dtype") && default_float() == DType::BF16 {
        return Err(invalid(args.op, "bfloat16, which is the default dtype, has no complex dtype".to_owned()));
    }
    Ok(placed(args, AnyTensor::from_scalars(&scalars, &sizes, dtype)?)?.into())
}

fn dtype(args: &Bound<'_>, name: &str) -> Result<DType> {
    args.value(name)?;
    args.dtype_or_none(name)?.ok_or_else(|| invalid(args.op, format!("argument `{name}` is missing")))
}

pub(super) const OPS: &[NamedOp] = named! {
    "tensor"("data", "dtype", "device", "requires_grad") "all dtypes" => tensor;
    "zeros"("*size", "dtype", "device", "requires_grad") "all dtypes" => |args| of_sizes(args, ScalarValue::Bool(false));
    "ones"("*size", "dtype", "device", "requires_grad") "all dtypes" => |args| of_sizes(args, ScalarValue::Bool(true));
    "empty"("*size", "dtype", "device", "requires_grad") "all dtypes" => |args| of_sizes(args, ScalarValue::Bool(false));
    "full"("size", "fill_value", "dtype", "device", "requires_grad") "all dtypes" => |args| {
        let value = args.scalar("fill_value")?;
        let sizes = sizes(args, args.ints("size")?)?;
        let dtype = dtype_or(args, full_dtype(value))?;
        Ok(filled("full", &sizes, value, dtype, device_or(args, default_device())?)?.into())
    };
    "scalar_tensor"("s", "dtype", "device", "requires_grad") "all dtypes" => |args| {
        let dtype = dtype_or(args, default_float())?;
        Ok(filled("scalar_tensor", &[], args.scalar("s")?, dtype, device_or(args, default_device())?)?.into())
    };
    "zeros_like"("input", "dtype", "device", "memory_format") "all dtypes" => |args| like(args, ScalarValue::Bool(false));
    "ones_like"("input", "dtype", "device", "memory_format") "all dtypes" => |args| like(args, ScalarValue::Bool(true));
    "empty_like"("input", "dtype", "device", "memory_format") "all dtypes" => |args| like(args, ScalarValue::Bool(false));
    "full_like"("input", "fill_value", "dtype", "device", "memory_format") "all dtypes" => |args| {
        like(args, args.scalar("fill_value")?)
    };
    "new_zeros"("input", "size", "dtype", "device") "all dtypes" => |args| new(args, ScalarValue::Bool(false));
    "new_ones"("input", "size", "dtype", "device") "all dtypes" => |args| new(args, ScalarValue::Bool(true));
    "new_empty"("input", "size", "dtype", "device") "all dtypes" => |args| new(args, ScalarValue::Bool(false));
    "new_full"("input", "size", "fill_value", "dtype", "device") "all dtypes" => |args| new(args, args.scalar("fill_value")?);
    "new_empty_strided"("input", "size", "stride", "dtype", "device") "all dtypes" => |args| {
        let dtype = dtype_or(args, args.tensor("input")?.dtype())?;
        let [size, stride] = ["size", "stride"].map(|name| args.ints(name).and_then(|values| sizes(args, values)));
        Ok(placed(args, AnyTensor::empty_strided(&size?, &stride?, dtype)?)?.into())
    };
    "arange"("start", "end", "step", "dtype", "device") "integers and floats" => arange;
    "linspace"("start", "end", "steps", "dtype", "device") "integers and floats" => linspace;
    "logspace"("start", "end", "steps", "base", "dtype", "device") "integers and floats" => logspace;
    "eye"("n", "m", "dtype", "device", "requires_grad") "all dtypes" => eye;
    "tril_indices"("row", "col", "offset", "dtype", "device") "int32 and int64" => |args| triangle(args, Places::try_tril_indices);
    "triu_indices"("row", "col", "offset", "dtype", "device") "int32 and int64" => |args| triangle(args, Places::try_triu_indices);
    "result_type"("tensor1", "tensor2") "all dtypes" => |args| {
        Ok(crate::dtype::result_type(args.operand("tensor1")?, args.operand("tensor2")?)?.into())
    };
    "promote_types"("type1", "type2") "all dtypes" => |args| {
        Ok(crate::dtype::promote_types(dtype(args, "type1")?, dtype(args, "type2")?)?.into())
    };
    "can_cast"("from_", "to") "all dtypes" => |args| Ok(dtype(args, "from_")?.can_cast(dtype(args, "to")?).into());
    "is_floating_point"("input") "all dtypes" => |args| Ok(args.tensor("input")?.dtype().is_floating_point().into());
    "is_complex"("input") "all dtypes" => |args| Ok(args.tensor("input")?.dtype().is_complex().into());
    "numel"("input") "all dtypes" => |args| Ok((args.tensor("input")?.numel() as i64).into());
};
