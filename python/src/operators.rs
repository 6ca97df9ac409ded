//! Operators of two operands: a tensor, and a tensor, an array or a number.
// (What pyo3 writes for methods that a macro writes has blocks of its own without `unsafe`.)
#![allow(unsafe_op_in_unsafe_fn)]

use crate::{PyTensor, called, listed, raised, value};
use castiron::AnyTensor;
use castiron::any::{Args, call_in_place};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// An operator of two operands; Python asks the other operand if this one knows nothing of it.
pub(crate) fn operator<'py>(
    name: &str,
    x: &AnyTensor,
    other: &Bound<'py, PyAny>,
    is_reflected: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = other.py();
    let Some(other) = value::operand(other)? else { return Ok(py.NotImplemented().into_bound(py)) };
    let operands = if is_reflected { [other, x.into()] } else { [x.into(), other] };
    called(py, name, listed(operands))
}

/// An operator that writes its result into the first operand.
fn assigned(name: &str, x: &Bound<'_, PyTensor>, other: &Bound<'_, PyAny>) -> PyResult<()> {
    // (Read first: it may be the same tensor.)
    let Some(other_value) = value::operand(other)? else {
        let found = other.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{name}: expected a tensor, an array or a number, got `{found}`")));
    };
    call_in_place(name, &mut x.try_borrow_mut()?.0, &Args::new().arg(other_value)).map_err(raised)
}

/// For an operation it writes the methods of an operator, for a tensor on either side.
macro_rules! operators {
    ($($op:literal: $left:ident $right:ident;)*) => {
        #[pymethods]
        impl PyTensor {
            $(
                fn $left<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                    operator($op, &self.0, other, false)
                }
                fn $right<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                    operator($op, &self.0, other, true)
                }
            )*
        }
    };
}
operators! {
    "add": __add__ __radd__;
    "sub": __sub__ __rsub__;
    "mul": __mul__ __rmul__;
    "div": __truediv__ __rtruediv__;
    "floor_divide": __floordiv__ __rfloordiv__;
    "remainder": __mod__ __rmod__;
    "matmul": __matmul__ __rmatmul__;
    "bitwise_and": __and__ __rand__;
    "bitwise_or": __or__ __ror__;
    "bitwise_xor": __xor__ __rxor__;
    "bitwise_left_shift": __lshift__ __rlshift__;
    "bitwise_right_shift": __rshift__ __rrshift__;
}

/// For an operation it writes the method of an operator in place.
macro_rules! operators_in_place {
    ($($op:literal: $name:ident;)*) => {
        #[pymethods]
        impl PyTensor {
            $(
                fn $name(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
                    assigned($op, slf, other)
                }
            )*
        }
    };
}
operators_in_place! {
    "add": __iadd__;
    "sub": __isub__;
    "mul": __imul__;
    "div": __itruediv__;
    "floor_divide": __ifloordiv__;
    "remainder": __imod__;
    "bitwise_and": __iand__;
    "bitwise_or": __ior__;
    "bitwise_xor": __ixor__;
}
