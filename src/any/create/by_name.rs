//! Tensors created by name, with PyTorch's arguments; and queries about dtypes.

use crate::any::base::as_typed::Rank1;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::base::operand::{default_float, scalar_dtype};
use crate::any::call::Bound;
use crate::any::{AnyOperand, AnyTensor, Value, checked_numel};
use crate::device::Dynamic;
use crate::device::{AnyDevice, default_device};
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result, invalid};
use crate::layout::MemoryFormat;
use crate::tensor::places_of_triangle as there;
use crate::{Cpu, Tensor, shape};
use castiron_macros::operations;

/// Moves a tensor from the host to the requested device, or to the default device.
fn placed(tensor: AnyTensor, device: Option<AnyDevice>) -> Result<AnyTensor> {
    tensor.to_device(device.unwrap_or_else(default_device))
}

/// Every element set to one value.
fn filled(
    op: &'static str,
    sizes: &[usize],
    value: ScalarValue,
    dtype: DType,
    device: Option<AnyDevice>,
) -> Result<AnyTensor> {
    AnyTensor::filled(op, sizes, value, dtype, device.unwrap_or_else(default_device))
}

/// The dtype of a tensor filled with a scalar. (A complex one gives `complex64` even if the default float is
/// 16 bits wide, where a literal gives `complex32`.)
fn full_dtype(value: ScalarValue) -> DType {
    match value {
        ScalarValue::Complex(_) if default_float() != DType::F64 => DType::C64,
        value => scalar_dtype(value),
    }
}

/// Runs code with numbers that are all integers, or all floats.
macro_rules! numbers {
    ($op:expr, [$($value:ident),*] => $run:expr) => {{
        if [$($value),*].iter().any(|value| matches!(value, ScalarValue::Complex(_))) {
            invalid($op, "complex numbers have no order".to_owned())
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
            i64::try_from(value).or_else(|_| invalid(op, format!("the argument {value} is out of range")))
        }
        other => Ok(other.real_part() as i64),
    }
}

/// Rows and columns of elements.
type Places = Tensor<i64, shape![2, _]>;

/// The rows and columns of the elements of a triangle.
fn triangle(
    op: &'static str,
    places: fn(usize, usize, isize) -> Result<Places>,
    [rows, columns]: [usize; 2],
    offset: i64,
    dtype: DType,
    device: Option<AnyDevice>,
) -> Result<AnyTensor> {
    if !matches!(dtype, DType::I32 | DType::I64) {
        let reason = "indices are int32 or int64".to_owned();
        return Err(Error::NotAdmitted { op, dtype, reason });
    }
    // An offset beyond `isize` is outside every matrix, so it is clamped.
    let offset = isize::try_from(offset).unwrap_or(if offset < 0 { isize::MIN } else { isize::MAX });
    {
        let beside = AnyTensor::zeros_on(&[0], dtype, device.unwrap_or_else(default_device))?;
        if beside.is_on_gpu() {
            let (is_lower, beside) = (op == "tril_indices", beside.storage());
            let (buffer, count) = match dtype {
                DType::I32 => there::<i32, Dynamic>(op, is_lower, [rows, columns], offset, beside)?,
                _ => there::<i64, Dynamic>(op, is_lower, [rows, columns], offset, beside)?,
            };
            return Ok(AnyTensor::fresh(buffer, dtype, &[2, count], &[count, 1]));
        }
    }
    placed(AnyTensor::from(places(rows, columns, offset)?).to(dtype)?, device)
}

/// The scalars of nested lists, which must not be ragged, and their sizes.
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
                Some(&size) if size != items.len() => return ragged(),
                Some(_) => {}
                // A scalar at this depth, or an empty list above it: the lists are ragged.
                None if !into.is_empty() || sizes.len() != depth => return ragged(),
                None => sizes.push(items.len()),
            }
            items.iter().try_for_each(|item| nested(args, item, depth + 1, sizes, into))
        }
        _ if sizes.len() != depth => ragged(),
        Value::Number(value) => {
            into.push(*value);
            Ok(())
        }
        other => Err(args.wrong("data", "scalars in lists", other)),
    }
}

#[operations]
impl AnyTensor {
    /// A constant tensor with the sizes, the layout and, unless another is given, the dtype of `self`.
    #[op(full_like(input, fill_value, dtype = None, device = None, memory_format = MemoryFormat::PRESERVE))]
    fn full_like_by_name(
        &self,
        value: ScalarValue,
        dtype: Option<DType>,
        device: Option<AnyDevice>,
        format: MemoryFormat,
    ) -> Result<AnyTensor> {
        self.like_filled("full_like", value, dtype, device, format)
    }

    fn like_filled(
        &self,
        op: &'static str,
        value: ScalarValue,
        dtype: Option<DType>,
        device: Option<AnyDevice>,
        format: MemoryFormat,
    ) -> Result<AnyTensor> {
        let to = device.unwrap_or(self.device());
        let dtype = dtype.unwrap_or(self.dtype);
        if !matches!(value, ScalarValue::Bool(false)) && to == AnyDevice::CPU && self.device() == to {
            // Allocated without zeroing, then filled.
            let strides = format.copied("zeros_like", &self.sizes, &self.strides)?;
            checked_numel("zeros_like", &self.sizes, dtype)?;
            return AnyTensor::scalar_of(op, value, dtype)?.expanded_to(&self.sizes)?.copied(&strides);
        }
        let mut tensor = AnyTensor::like(self, dtype, format)?;
        if !matches!(value, ScalarValue::Bool(false)) {
            tensor.fill_value(op, value)?;
        }
        tensor.to_device(device.unwrap_or_else(|| self.device()))
    }

    #[op(new_full(input, size, fill_value, dtype = None, device = None))]
    fn new_full_by_name(
        &self,
        size: &[usize],
        value: ScalarValue,
        dtype: Option<DType>,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        self.new_filled("new_full", size, value, dtype, device)
    }

    fn new_filled(
        &self,
        op: &'static str,
        size: &[usize],
        value: ScalarValue,
        dtype: Option<DType>,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        filled(op, size, value, dtype.unwrap_or(self.dtype), Some(device.unwrap_or_else(|| self.device())))
    }

    #[op(new_empty_strided(input, size, stride, dtype = None, device = None))]
    fn new_empty_strided_by_name(
        &self,
        size: &[usize],
        stride: &[usize],
        dtype: Option<DType>,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        AnyTensor::empty_strided_on(size, stride, dtype.unwrap_or(self.dtype), device.unwrap_or_else(|| self.device()))
    }

    /// A tensor whose axes lie in memory in the given order, the outermost first.
    #[op(empty_permuted(size, physical_layout, dtype = None, layout = _, device = None, requires_grad = _))]
    fn empty_permuted_by_name(
        size: &[usize],
        order: &[usize],
        dtype: Option<DType>,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if sorted.len() != size.len() || sorted.iter().enumerate().any(|(at, &axis)| at != axis) {
            let reason = format!("the order {order:?} does not name each of {} axes once", size.len());
            return Err(crate::error::Error::InvalidArgument { op: "empty_permuted", reason });
        }
        let mut strides = vec![0; size.len()];
        let mut step = 1_usize;
        for &axis in order.iter().rev() {
            strides[axis] = step;
            step = step.saturating_mul(size[axis].max(1));
        }
        let dtype = dtype.unwrap_or_else(crate::dtype::default_dtype);
        AnyTensor::empty_strided_on(size, &strides, dtype, device.unwrap_or_else(crate::device::default_device))
    }

    #[op(full(size, fill_value, dtype = None, device = None, requires_grad = _))]
    fn full_by_name(
        size: &[usize],
        value: ScalarValue,
        dtype: Option<DType>,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        filled("full", size, value, dtype.unwrap_or_else(|| full_dtype(value)), device)
    }

    #[op(scalar_tensor(s, dtype = None, device = None, requires_grad = _))]
    fn scalar_by_name(value: ScalarValue, dtype: Option<DType>, device: Option<AnyDevice>) -> Result<AnyTensor> {
        filled("scalar_tensor", &[], value, dtype.unwrap_or_else(default_float), device)
    }

    /// `arange(end)`, `arange(start, end)`, `arange(start, end, step)`.
    #[op(arange(start, end, step = 1, dtype = None, device = None), dtypes = real)]
    fn arange_by_name(
        start: Option<ScalarValue>,
        end: Option<ScalarValue>,
        step: ScalarValue,
        dtype: Option<DType>,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        let op = "arange";
        let (start, end) = match (start, end) {
            (Some(start), Some(end)) => (start, end),
            (Some(end), None) | (None, Some(end)) => (ScalarValue::Int(0), end),
            (None, None) => return invalid(op, "argument `end` is missing".to_owned()),
        };
        let whole = [start, end, step].iter().all(|value| matches!(value, ScalarValue::Int(_) | ScalarValue::Bool(_)));
        let dtype = dtype.unwrap_or_else(|| if whole { DType::I64 } else { default_float() });
        let range = dispatch_dtype!(op, dtype, E: Real => {
            numbers!(op, [start, end, step] => Ok(AnyTensor::from(Tensor::<E, Rank1, Cpu>::try_arange(start, end, step)?)))
        })?;
        placed(range, device)
    }

    #[op(linspace(start, end, steps, dtype = None, device = None), dtypes = real)]
    fn linspace_by_name(
        start: ScalarValue,
        end: ScalarValue,
        steps: usize,
        dtype: Option<DType>,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        let (op, steps, dtype) = ("linspace", [steps], dtype.unwrap_or_else(default_float));
        if steps == [0] && dtype == DType::Bool {
            // PyTorch accepts bools if the range is empty.
            return placed(AnyTensor::on_host(&steps, dtype)?, device);
        }
        let space = dispatch_dtype!(op, dtype.to_real(), E: Real => {
            numbers!(op, [start, end] => Ok(AnyTensor::from(Tensor::<E, Rank1, Cpu>::try_linspace_sized(steps, start, end)?)))
        })?;
        placed(space.to(dtype)?, device)
    }

    #[op(logspace(start, end, steps, base = 10.0, dtype = None, device = None), dtypes = real)]
    fn logspace_by_name(
        start: ScalarValue,
        end: ScalarValue,
        steps: usize,
        base: f64,
        dtype: Option<DType>,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        let (op, steps, dtype) = ("logspace", [steps], dtype.unwrap_or_else(default_float));
        let space = dispatch_dtype!(op, dtype.to_real(), E: Real => {
            numbers!(op, [start, end] => {
                Ok(AnyTensor::from(Tensor::<E, Rank1, Cpu>::try_logspace_sized(steps, start, end, base)?))
            })
        })?;
        placed(space.to(dtype)?, device)
    }

    #[op(eye(n, m = None, dtype = None, device = None, requires_grad = _))]
    fn eye_by_name(
        rows: usize,
        columns: Option<usize>,
        dtype: Option<DType>,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        let sizes = [rows, columns.unwrap_or(rows)];
        let mut matrix = AnyTensor::on_host(&sizes, dtype.unwrap_or_else(default_float))?;
        matrix.fill_diagonal()?;
        placed(matrix, device)
    }

    #[op(tril_indices(row, col, offset = 0, dtype = DType::I64, device = None), dtypes = "int32 and int64")]
    fn tril_indices_by_name(
        rows: usize,
        columns: usize,
        offset: i64,
        dtype: DType,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        triangle("tril_indices", Places::try_tril_indices, [rows, columns], offset, dtype, device)
    }

    #[op(triu_indices(row, col, offset = 0, dtype = DType::I64, device = None), dtypes = "int32 and int64")]
    fn triu_indices_by_name(
        rows: usize,
        columns: usize,
        offset: i64,
        dtype: DType,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        triangle("triu_indices", Places::try_triu_indices, [rows, columns], offset, dtype, device)
    }

    /// `torch.tensor`: a copy of a tensor, or scalars in nested lists; the dtype is that of the highest category among them.
    #[op(tensor(data, dtype, device, requires_grad))]
    fn tensor_by_name(args: &Bound<'_>) -> Result<Value> {
        let (data, device) = (args.value("data")?, args.read("device")?);
        let given: Option<DType> = args.read("dtype")?;
        if let Value::Array(tensor) = data {
            return placed(tensor.to(given.unwrap_or(tensor.dtype))?.copy()?, device).map(Value::Array);
        }
        let (mut sizes, mut scalars) = (Vec::new(), Vec::new());
        nested(args, data, 0, &mut sizes, &mut scalars)?;
        let widest = scalars.iter().map(|value| scalar_dtype(*value)).max_by_key(|dtype| dtype.category());
        let dtype = given.or(widest).unwrap_or_else(default_float);
        if dtype.is_complex() && given.is_none() && default_float() == DType::BF16 {
            return invalid(args.op, "bfloat16, which is the default dtype, has no complex dtype".to_owned());
        }
        placed(AnyTensor::from_scalars(&scalars, &sizes, dtype)?, device).map(Value::Array)
    }

    #[op(result_type(tensor1, tensor2))]
    fn result_type_by_name(a: AnyOperand, b: AnyOperand) -> Result<DType> {
        crate::dtype::result_type(a, b)
    }

    #[op(promote_types(type1, type2))]
    fn promote_types_by_name(a: DType, b: DType) -> Result<DType> {
        crate::dtype::promote_types(a, b)
    }

    #[op(can_cast(from_, to))]
    fn can_cast_by_name(from: DType, to: DType) -> Result<bool> {
        Ok(from.can_cast(to))
    }

    #[op(is_floating_point(input))]
    fn is_floating_point_by_name(&self) -> Result<bool> {
        Ok(self.dtype.is_floating_point())
    }

    #[op(is_complex(input))]
    fn is_complex_by_name(&self) -> Result<bool> {
        Ok(self.dtype.is_complex())
    }

    #[op(numel(input))]
    fn numel_by_name(&self) -> Result<i64> {
        Ok(self.numel() as i64)
    }
}

/// For `zeros zeros_like new_zeros = false` it writes these three, filled with one value.
macro_rules! constants {
    ($($of:ident: $name:ident $like:ident $new:ident = $value:literal;)*) => {$(
        /// Tensors filled with one value, by name.
        #[operations($of)]
        impl AnyTensor {
            #[op($name(*size, dtype = None, device = None, requires_grad = _))]
            #[allow(non_snake_case)]
            fn $of(size: &[usize], dtype: Option<DType>, device: Option<AnyDevice>) -> Result<AnyTensor> {
                let dtype = dtype.unwrap_or_else(default_float);
                filled(stringify!($name), size, ScalarValue::Bool($value), dtype, device)
            }

            #[op($like(input, dtype = None, device = None, memory_format = MemoryFormat::PRESERVE))]
            fn $like(&self, dtype: Option<DType>, device: Option<AnyDevice>, format: MemoryFormat) -> Result<AnyTensor> {
                self.like_filled(stringify!($like), ScalarValue::Bool($value), dtype, device, format)
            }

            #[op($new(input, size, dtype = None, device = None))]
            fn $new(&self, size: &[usize], dtype: Option<DType>, device: Option<AnyDevice>) -> Result<AnyTensor> {
                self.new_filled(stringify!($new), size, ScalarValue::Bool($value), dtype, device)
            }
        }
    )*};
}
constants! {
    ZEROS: zeros zeros_like new_zeros = false;
    ONES: ones ones_like new_ones = true;
    EMPTY: empty empty_like new_empty = false;
}
