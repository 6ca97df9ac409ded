//! What operations by name take and give.

use crate::any::AnyTensor;
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result};

/// An argument or a result of an operation that is called by name.
///
/// (Its variants are not called as types are: the compiler would write those with their paths in every message.)
#[derive(Clone, Debug)]
pub enum Value {
    /// Python's `None`.
    Absent,
    /// A tensor.
    Array(AnyTensor),
    /// A bool, an integer, a float or a complex number.
    Number(ScalarValue),
    /// A string.
    Str(String),
    /// A dtype.
    Type(DType),
    /// A list or a tuple.
    List(Vec<Value>),
    /// `start:stop:step`
    Slice(Option<i64>, Option<i64>, Option<i64>),
    /// `...`
    Rest,
}

impl From<AnyTensor> for Value {
    fn from(tensor: AnyTensor) -> Self {
        Value::Array(tensor)
    }
}
impl From<&AnyTensor> for Value {
    fn from(tensor: &AnyTensor) -> Self {
        Value::Array(tensor.clone())
    }
}
impl From<DType> for Value {
    fn from(dtype: DType) -> Self {
        Value::Type(dtype)
    }
}
impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Str(text.to_owned())
    }
}
impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Number(ScalarValue::Bool(value))
    }
}
impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Number(ScalarValue::Int(value.into()))
    }
}
impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Number(ScalarValue::Float(value))
    }
}
impl From<ScalarValue> for Value {
    fn from(value: ScalarValue) -> Self {
        Value::Number(value)
    }
}
impl<V: Into<Value>> From<Vec<V>> for Value {
    fn from(values: Vec<V>) -> Self {
        Value::List(values.into_iter().map(Into::into).collect())
    }
}
impl<V: Into<Value>> From<Option<V>> for Value {
    fn from(value: Option<V>) -> Self {
        value.map_or(Value::Absent, Into::into)
    }
}
impl<A: Into<Value>, B: Into<Value>> From<(A, B)> for Value {
    fn from((a, b): (A, B)) -> Self {
        Value::List(vec![a.into(), b.into()])
    }
}
impl<A: Into<Value>, B: Into<Value>, C: Into<Value>> From<(A, B, C)> for Value {
    fn from((a, b, c): (A, B, C)) -> Self {
        Value::List(vec![a.into(), b.into(), c.into()])
    }
}

impl Value {
    /// The tensor it is.
    ///
    /// # Errors
    /// If it is something else.
    pub fn tensor(self) -> Result<AnyTensor> {
        match self {
            Value::Array(tensor) => Ok(tensor),
            other => Err(wrong("call", "result", "a tensor", &other)),
        }
    }
}

/// The error of an argument or a result that is something else than expected.
pub(super) fn wrong(op: &'static str, name: &str, expected: &str, found: &Value) -> Error {
    let found = match found {
        Value::Absent => "None".to_owned(),
        Value::Array(tensor) => format!("a tensor of {} and shape {:?}", tensor.dtype(), tensor.shape()),
        Value::Number(value) => format!("the scalar {value}"),
        Value::Str(text) => format!("{text:?}"),
        Value::Type(dtype) => format!("{dtype:?}"),
        Value::List(values) => format!("a list of {}", values.len()),
        Value::Slice(..) => "a slice".to_owned(),
        Value::Rest => "an ellipsis".to_owned(),
    };
    Error::InvalidArgument { op, reason: format!("argument `{name}`: expected {expected}, got {found}") }
}
