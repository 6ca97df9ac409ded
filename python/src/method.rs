//! Operations as functions of Python, found by PyTorch's names.

use crate::PyTensor;
use crate::value::{to_argument, to_value};
use castiron::any::{Args, alias, ops};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::collections::HashSet;
use std::sync::OnceLock;

/// An operation, or the first part of the names of some (`linalg`), bound to a tensor or not.
#[pyclass(module = "castiron", frozen)]
pub struct Operation {
    name: String,
    input: Option<Py<PyTensor>>,
}

/// The names of operations, and their first parts.
fn names() -> &'static HashSet<&'static str> {
    static NAMES: OnceLock<HashSet<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let names = ops().map(|op| op.name);
        names.flat_map(|name| name.match_indices('.').map(|(at, _)| &name[..at]).chain([name])).collect()
    })
}

impl Operation {
    /// The operation of a name, if there is one.
    pub fn of(name: &str, input: Option<Py<PyTensor>>) -> Option<Self> {
        let is_known = !name.starts_with('_') && (names().contains(name) || alias(name).is_some());
        is_known.then(|| Operation { name: name.to_owned(), input })
    }
}

#[pymethods]
impl Operation {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut given = Args::new();
        if let Some(input) = &self.input {
            given = given.arg(&input.borrow(py).0);
        }
        for argument in args {
            given = given.arg(to_value(&argument)?);
        }
        for (name, argument) in kwargs.into_iter().flatten() {
            let name: String = name.extract()?;
            given = given.named(&name, to_argument(&name, &argument)?);
        }
        crate::called(py, &self.name, given)
    }
    /// `castiron.linalg.svd`
    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Operation> {
        let whole = format!("{}.{name}", self.name);
        let input = self.input.as_ref().map(|input| input.clone_ref(py));
        Operation::of(&whole, input)
            .ok_or_else(|| pyo3::exceptions::PyAttributeError::new_err(format!("castiron has no operation `{whole}`")))
    }
    fn __repr__(&self) -> String {
        format!("<operation {}>", self.name)
    }
}
