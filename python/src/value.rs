//! Values of Python as arguments of operations, and results as values of Python.

use crate::{PyDType, PyTensor, exchange, raised};
use castiron::any::Value;
use castiron::{AnyTensor, Complex, DType, ScalarValue};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyList, PySlice, PyString, PyTuple};

/// The deepest lists that are read: no tensor has more axes.
const DEEPEST: usize = 64;

/// A number of Python's, or of NumPy's.
fn number(x: &Bound<'_, PyAny>) -> PyResult<Option<ScalarValue>> {
    if let Ok(x) = x.cast::<PyBool>() {
        return Ok(Some(ScalarValue::Bool(x.is_true())));
    }
    if x.is_instance_of::<PyInt>() {
        return Ok(Some(ScalarValue::Int(x.extract::<i128>()?)));
    }
    if x.is_instance_of::<PyFloat>() {
        return Ok(Some(ScalarValue::Float(x.extract()?)));
    }
    if let Ok(x) = x.cast::<PyComplex>() {
        return Ok(Some(ScalarValue::Complex(Complex::new(x.real(), x.imag()))));
    }
    Ok(None)
}

/// An operand of an operator: a tensor, a number or an array; `None` if it is something else. The result of an operator has memory of its
/// own, so that an array is shared while it is computed.
pub fn operand(x: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    operand_or_copy(x, None)
}

/// The same with a copy of arrays.
fn operand_or_copy(x: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Option<Value>> {
    if let Ok(x) = x.cast::<PyTensor>() {
        return Ok(Some((&x.try_borrow()?.0).into()));
    }
    if let Some(number) = number(x)? {
        return Ok(Some(Value::Number(number)));
    }
    if x.hasattr("__dlpack__")? {
        return Ok(Some(exchange::imported(x, copy)?.into()));
    }
    // A scalar of NumPy's counts as a tensor without axes does: it has a dtype.
    if x.hasattr("dtype")? && x.hasattr("__array__")? {
        return made(x, None).map(|of| Some(of.into()));
    }
    Ok(None)
}

/// Any argument.
pub fn to_value(x: &Bound<'_, PyAny>) -> PyResult<Value> {
    nested_value(x, 0)
}

fn nested_value(x: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > DEEPEST {
        return Err(PyValueError::new_err(format!("lists are nested more than {DEEPEST} deep")));
    }
    if x.is_none() {
        return Ok(Value::Absent);
    }
    if x.is(x.py().Ellipsis()) {
        return Ok(Value::Rest);
    }
    // (The result may be a view.)
    if let Some(value) = operand_or_copy(x, Some(true))? {
        return Ok(value);
    }
    if let Ok(dtype) = x.cast::<PyDType>() {
        return Ok(Value::Type(dtype.get().0));
    }
    if let Ok(text) = x.cast::<PyString>() {
        return Ok(Value::Str(text.to_string_lossy().into_owned()));
    }
    if x.is_instance_of::<PySlice>() {
        let part = |name: &str| -> PyResult<Option<i64>> { x.getattr(name)?.extract() };
        return Ok(Value::Slice(part("start")?, part("stop")?, part("step")?));
    }
    if x.is_instance_of::<PyList>() || x.is_instance_of::<PyTuple>() {
        let items = x.try_iter()?.map(|item| nested_value(&item?, depth + 1));
        return Ok(Value::List(items.collect::<PyResult<Vec<Value>>>()?.into()));
    }
    if let Ok(dtype) = to_dtype(x) {
        return Ok(Value::Type(dtype));
    }
    let found = x.get_type().name()?;
    Err(PyTypeError::new_err(format!("`{found}` is no argument of an operation of tensors")))
}

/// The argument of a name: where a dtype is expected, its name is one.
pub fn to_argument(name: &str, x: &Bound<'_, PyAny>) -> PyResult<Value> {
    if name == "dtype" && !x.is_none() { to_dtype(x).map(Value::Type) } else { to_value(x) }
}

/// A dtype: one of castiron's, a name, or one of another library's (`numpy.float32`, `torch.float32`).
pub fn to_dtype(x: &Bound<'_, PyAny>) -> PyResult<DType> {
    if let Ok(dtype) = x.cast::<PyDType>() {
        return Ok(dtype.get().0);
    }
    // Types of Python are what they are for PyTorch and NumPy.
    let py = x.py();
    let types = [
        (py.get_type::<PyBool>(), DType::Bool),
        (py.get_type::<PyInt>(), DType::I64),
        (py.get_type::<PyFloat>(), DType::F64),
        (py.get_type::<PyComplex>(), DType::C128),
    ];
    if let Some((_, dtype)) = types.iter().find(|(of, _)| x.is(of)) {
        return Ok(*dtype);
    }
    let name = match x.cast::<PyString>() {
        Ok(name) => name.to_string_lossy().into_owned(),
        // `numpy.dtype` has a name, and a type of NumPy's is called as its dtype.
        Err(_) => match x.getattr("name").or_else(|_| x.getattr("__name__")) {
            Ok(name) => name.str()?.to_string_lossy().into_owned(),
            Err(_) => x.str()?.to_string_lossy().into_owned(),
        },
    };
    name.parse().map_err(|_| PyTypeError::new_err(format!("`{name}` is no dtype of castiron's")))
}

/// A result.
pub fn from_value<'py>(py: Python<'py>, value: Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Absent | Value::Slice(..) | Value::Rest => py.None().into_bound(py),
        Value::Array(tensor) => Bound::new(py, PyTensor(tensor))?.into_any(),
        Value::Number(ScalarValue::Bool(x)) => PyBool::new(py, x).to_owned().into_any(),
        Value::Number(ScalarValue::Int(x)) => x.into_pyobject(py)?.into_any(),
        Value::Number(ScalarValue::Float(x)) => PyFloat::new(py, x).into_any(),
        Value::Number(ScalarValue::Complex(x)) => PyComplex::from_doubles(py, x.re, x.im).into_any(),
        Value::Str(text) => PyString::new(py, &text).into_any(),
        Value::Type(dtype) => Bound::new(py, PyDType(dtype))?.into_any(),
        Value::List(list) => {
            let items = list.into_iter().map(|item| from_value(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, items)?.into_any()
        }
        // (`Value` may grow.)
        #[allow(unreachable_patterns)]
        _ => return Err(PyTypeError::new_err("a result that Python has no value for")),
    })
}

/// A new tensor with a copy of numbers, nested lists of them, or an array.
pub fn made(x: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<AnyTensor> {
    let py = x.py();
    let tensor = if let Ok(x) = x.cast::<PyTensor>() {
        x.try_borrow()?.0.clone()
    } else if x.hasattr("__dlpack__")? {
        exchange::imported(x, Some(true))?
    } else if x.hasattr("dtype")? && x.hasattr("__array__")? {
        // A scalar of NumPy's: its array has DLPack.
        exchange::imported(&x.call_method0("__array__")?, Some(true))?
    } else {
        let value = match number(x)? {
            Some(number) => Value::Number(number),
            None => to_value(x)?,
        };
        let args = castiron::any::Args::new().arg(value);
        let args = dtype.map_or(args.clone(), |dtype| args.named("dtype", dtype));
        return py.detach(|| castiron::any::call("tensor", &args)).and_then(Value::tensor).map_err(raised);
    };
    match dtype {
        Some(dtype) if dtype != tensor.dtype() => py.detach(|| tensor.to(dtype)).map_err(raised),
        _ => Ok(tensor),
    }
}

/// The elements as nested lists of Python.
pub fn nested<'py>(py: Python<'py>, x: &AnyTensor) -> PyResult<Bound<'py, PyAny>> {
    if x.rank() == 0 {
        return from_value(py, Value::Number(x.item().map_err(raised)?));
    }
    let parts = (0..x.shape()[0]).map(|at| nested(py, &x.select(0, at as i64).map_err(raised)?));
    Ok(PyList::new(py, parts.collect::<PyResult<Vec<_>>>()?)?.into_any())
}

/// The text of a tensor in a format of Rust's: `#8.3`; `None` if it is none.
pub fn formatted(x: &AnyTensor, format: &str) -> Option<String> {
    let (whole, rest) = format.strip_prefix('#').map_or((false, format), |rest| (true, rest));
    let (width, precision) = match rest.split_once('.') {
        Some((width, precision)) => (width, Some(precision.parse::<usize>().ok().filter(|&of| of <= 64)?)),
        None => (rest, None),
    };
    let width = if width.is_empty() { 0 } else { width.parse::<usize>().ok().filter(|&of| of <= 256)? };
    Some(match (whole, precision) {
        (false, None) => format!("{x:width$}"),
        (false, Some(precision)) => format!("{x:width$.precision$}"),
        (true, None) => format!("{x:#width$}"),
        (true, Some(precision)) => format!("{x:#width$.precision$}"),
    })
}

/// The keyword arguments of a call.
pub fn keywords<'py, const N: usize>(
    py: Python<'py>,
    of: [(&str, Bound<'py, PyAny>); N],
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (name, value) in of {
        all.set_item(name, value)?;
    }
    Ok(all)
}
