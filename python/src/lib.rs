//! castiron's run-time tensors as a module of Python.

mod exchange;
mod method;
mod operators;
mod value;

use castiron::any::{Args, Value, call};
use castiron::{AnyTensor, DType, Error};
use operators::operator;
use pyo3::exceptions::{PyAttributeError, PyIndexError, PyMemoryError, PyTypeError, PyValueError, PyZeroDivisionError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use value::{from_value, to_dtype, to_value};

/// A tensor whose dtype and shape are known at run time.
#[pyclass(name = "AnyTensor", module = "castiron", weakref)]
pub struct PyTensor(pub AnyTensor);

/// A dtype: `castiron.float32`.
#[pyclass(name = "DType", module = "castiron", frozen, eq, hash, from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PyDType(pub DType);

#[pymethods]
impl PyDType {
    fn __repr__(&self) -> String {
        format!("castiron.{}", self.0)
    }
    fn __str__(&self) -> String {
        self.0.to_string()
    }
    /// The bytes of an element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.itemsize()
    }
}

/// An error of castiron as the exception that Python's libraries raise for it.
pub(crate) fn raised(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::OutOfMemory { .. } => PyMemoryError::new_err(text),
        Error::NotAdmitted { .. } | Error::NotCastable { .. } | Error::Promotion { .. } => PyTypeError::new_err(text),
        Error::IndexOutOfRange { .. } | Error::IndexValue { .. } => PyIndexError::new_err(text),
        Error::DivisionByZero { .. } => PyZeroDivisionError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// Calls an operation without holding Python's lock.
pub(crate) fn called<'py>(py: Python<'py>, name: &str, args: Args) -> PyResult<Bound<'py, PyAny>> {
    let result = py.detach(|| call(name, &args)).map_err(raised)?;
    from_value(py, result)
}

/// The arguments of an operation, in order.
pub(crate) fn listed<const N: usize>(values: [Value; N]) -> Args {
    values.into_iter().fold(Args::new(), |args, value| args.arg(value))
}

#[pymethods]
impl PyTensor {
    fn __pow__<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        modulo: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        expect_no_modulo(modulo)?;
        operator("pow", &self.0, other, false)
    }
    fn __rpow__<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        modulo: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        expect_no_modulo(modulo)?;
        operator("pow", &self.0, other, true)
    }
    fn __neg__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        called(py, "neg", listed([(&self.0).into()]))
    }
    fn __pos__(&self) -> Self {
        PyTensor(self.0.clone())
    }
    fn __abs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        called(py, "abs", listed([(&self.0).into()]))
    }
    fn __invert__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        called(py, "bitwise_not", listed([(&self.0).into()]))
    }
    /// Comparisons give a mask.
    fn __richcmp__<'py>(&self, other: &Bound<'py, PyAny>, op: pyo3::basic::CompareOp) -> PyResult<Bound<'py, PyAny>> {
        use pyo3::basic::CompareOp;
        let name = match op {
            CompareOp::Lt => "lt",
            CompareOp::Le => "le",
            CompareOp::Eq => "eq",
            CompareOp::Ne => "ne",
            CompareOp::Gt => "gt",
            CompareOp::Ge => "ge",
        };
        operator(name, &self.0, other, false)
    }
    /// `x[1:, None, ..., [0, 2]]`
    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let items = match index.cast::<PyTuple>() {
            Ok(items) => items.iter().map(|item| to_value(&item)).collect::<PyResult<Vec<Value>>>()?,
            Err(_) => vec![to_value(index)?],
        };
        called(index.py(), "__getitem__", listed([(&self.0).into(), Value::List(items.into())]))
    }
    fn __len__(&self) -> PyResult<usize> {
        let size = self.0.shape().first().copied();
        size.ok_or_else(|| PyTypeError::new_err("a tensor without axes has no length"))
    }
    /// The tensors along the first axis.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        called(py, "unbind", listed([(&self.0).into()]))?.try_iter().map(Bound::into_any)
    }
    fn __bool__(&self) -> PyResult<bool> {
        use castiron::ScalarValue;
        Ok(match self.0.item().map_err(raised)? {
            ScalarValue::Bool(value) => value,
            ScalarValue::Int(value) => value != 0,
            ScalarValue::Float(value) => value != 0.0,
            ScalarValue::Complex(value) => value.re != 0.0 || value.im != 0.0,
            other => return Err(PyTypeError::new_err(format!("{other:?} is neither true nor false"))),
        })
    }
    fn __float__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.item(py)?.call_method0("__float__")
    }
    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.item(py)?.call_method0("__int__")
    }
    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.item(py)?.call_method0("__index__")
    }
    /// As PyTorch prints it. (`f"{x:.2}"`, `f"{x:8.3}"` and `f"{x:#}"` are those of Rust.)
    fn __repr__(&self) -> String {
        self.0.to_string()
    }
    fn __format__(&self, format: &str) -> PyResult<String> {
        value::formatted(&self.0, format).ok_or_else(|| {
            PyValueError::new_err(format!(
                "`{format}` is no format of tensors: `#` (all elements), `8`, `.3`, `8.3` or `#8.3`"
            ))
        })
    }
    /// Any operation by PyTorch's name: `x.softmax(-1)`.
    fn __getattr__(slf: Bound<'_, Self>, name: &str) -> PyResult<method::Operation> {
        let found = method::Operation::of(name, Some(slf.unbind()));
        found.ok_or_else(|| {
            PyAttributeError::new_err(format!("castiron has no operation `{name}`: `castiron.ops()` lists them"))
        })
    }

    /// The sizes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.shape())
    }
    /// The strides, in elements.
    #[getter]
    fn stride<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.stride())
    }
    #[getter]
    fn dtype(&self) -> PyDType {
        PyDType(self.0.dtype())
    }
    #[getter]
    fn ndim(&self) -> usize {
        self.0.rank()
    }
    #[getter]
    fn device(&self) -> String {
        self.0.device_name().to_owned()
    }
    fn numel(&self) -> usize {
        self.0.numel()
    }
    fn shares_storage(&self, other: PyRef<'_, PyTensor>) -> bool {
        self.0.shares_storage(&other.0)
    }
    /// dtype, shape, strides, smallest and largest element, mean, how many NaNs.
    fn describe(&self) -> String {
        castiron::describe(&self.0).to_string()
    }
    /// The only element as a number of Python.
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_value(py, Value::Number(self.0.item().map_err(raised)?))
    }
    /// The elements as nested lists.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::nested(py, &self.0)
    }
    /// The tensor with another dtype.
    fn to<'py>(&self, dtype: &Bound<'py, PyAny>) -> PyResult<Self> {
        let (dtype, py) = (to_dtype(dtype)?, dtype.py());
        py.detach(|| self.0.to(dtype)).map(PyTensor).map_err(raised)
    }

    /// The tensor for another library: see `castiron.from_dlpack`.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        exchange::exported(py, &self.0, stream.is_some(), max_version, dl_device, copy)
    }
    fn __dlpack_device__(&self) -> (i32, i32) {
        exchange::HOST
    }
    /// A NumPy array with the same memory, read-only; a copy if `dtype` is another one, or `copy` is true.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        exchange::array(slf, dtype, copy)
    }
    /// NumPy hands operators on to the tensor.
    #[classattr]
    fn __array_ufunc__(py: Python<'_>) -> Py<PyAny> {
        py.None()
    }
}

fn expect_no_modulo(modulo: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    match modulo {
        Some(modulo) if !modulo.is_none() => Err(PyTypeError::new_err("pow() of tensors takes no modulus")),
        _ => Ok(()),
    }
}

/// A tensor with a copy of numbers, of nested lists of them, or of an array.
#[pyfunction]
#[pyo3(signature = (data, dtype=None))]
fn tensor(data: &Bound<'_, PyAny>, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<PyTensor> {
    let dtype = dtype.map(to_dtype).transpose()?;
    value::made(data, dtype).map(PyTensor)
}

/// A tensor that shares the memory of an array on the host.
///
/// While the tensor exists the array must not be written. Bools are copied, since any byte can be written into another library's.
#[pyfunction]
#[pyo3(signature = (x, *, copy=None))]
fn from_dlpack(x: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<PyTensor> {
    exchange::imported(x, copy).map(PyTensor)
}

/// The dtype of an operation of these tensors, numbers and dtypes.
#[pyfunction]
fn promote_types(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<PyDType> {
    castiron::dtype::promote_types(to_dtype(a)?, to_dtype(b)?).map(PyDType).map_err(raised)
}

/// The names of all operations.
#[pyfunction]
fn ops() -> Vec<&'static str> {
    castiron::any::ops().map(|op| op.name).collect()
}

/// An operation by PyTorch's name: `castiron.softmax(x, -1)`.
#[pyfunction]
fn __getattr__(name: &str) -> PyResult<method::Operation> {
    let found = method::Operation::of(name, None);
    found.ok_or_else(|| {
        PyAttributeError::new_err(format!("castiron has no operation `{name}`: `castiron.ops()` lists them"))
    })
}

/// Tensors with PyTorch's rules, beside NumPy.
#[pymodule]
#[pyo3(name = "castiron")]
fn castiron_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_class::<PyTensor>()?;
    m.add_class::<PyDType>()?;
    for &dtype in DType::ALL {
        m.add(dtype.name(), PyDType(dtype))?;
    }
    m.add_function(wrap_pyfunction!(tensor, m)?)?;
    m.add_function(wrap_pyfunction!(from_dlpack, m)?)?;
    m.add_function(wrap_pyfunction!(promote_types, m)?)?;
    m.add_function(wrap_pyfunction!(ops, m)?)?;
    m.add_function(wrap_pyfunction!(__getattr__, m)?)
}
