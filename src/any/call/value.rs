//! Arguments and results of operations that are called by name.

use crate::any::AnyTensor;
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result};

/// An argument or a result of an operation that is called by name.
///
/// Variants are not named like types, which the compiler would then write with their paths in every message.
#[derive(Clone, Debug)]
#[non_exhaustive]
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
    List(ValueList),
    /// `start:stop:step`
    Slice(Option<i64>, Option<i64>, Option<i64>),
    /// `...`
    Rest,
}

/// The values of a [`Value::List`]: it is read as a slice, made of a `Vec` or an iterator, and becomes an iterator.
///
/// Lists may be nested as deep as a parser reads them: cloning, dropping and comparing them is not recursive, and operations refuse lists
/// that are nested more than 64 deep.
///
/// ```
/// use castiron::any::{Value, ValueList};
/// let Value::List(list) = Value::from(vec![1_i64, 2, 3]) else { unreachable!() };
/// assert_eq!((list.len(), list.first().map(|value| format!("{value:?}"))), (3, Some("Number(Int(1))".to_owned())));
/// let twice: ValueList = list.into_iter().chain([Value::Rest]).collect();
/// assert_eq!(twice.len(), 4);
/// ```
#[derive(Default)]
pub struct ValueList(Vec<Value>);

/// Lists that are nested deeper are refused: no tensor has more axes, and the functions that read lists are recursive.
const DEEPEST: usize = 64;

/// Whether lists are nested deeper than operations take.
fn is_too_deep(values: &[Value]) -> bool {
    fn lists(values: &[Value], depth: usize) -> impl Iterator<Item = (&[Value], usize)> {
        values.iter().filter_map(move |value| match value {
            Value::List(list) => Some((&list.0[..], depth)),
            _ => None,
        })
    }
    // Without lists, the most frequent case, nothing is allocated.
    let mut left: Vec<_> = lists(values, 1).collect();
    while let Some((values, depth)) = left.pop() {
        if depth > DEEPEST {
            return true;
        }
        left.extend(lists(values, depth + 1));
    }
    false
}

/// The error for lists that are nested too deep. Everything that takes values from outside checks this first.
pub(crate) fn expect_shallow(op: &'static str, values: &[Value]) -> Result<()> {
    if is_too_deep(values) {
        let reason = format!("lists are nested more than {DEEPEST} deep");
        return Err(Error::InvalidArgument { op, reason });
    }
    Ok(())
}

impl core::ops::Deref for ValueList {
    type Target = [Value];
    fn deref(&self) -> &[Value] {
        &self.0
    }
}
impl From<Vec<Value>> for ValueList {
    fn from(values: Vec<Value>) -> Self {
        ValueList(values)
    }
}
impl FromIterator<Value> for ValueList {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        ValueList(values.into_iter().collect())
    }
}
impl IntoIterator for ValueList {
    type Item = Value;
    type IntoIter = std::vec::IntoIter<Value>;
    fn into_iter(mut self) -> Self::IntoIter {
        core::mem::take(&mut self.0).into_iter()
    }
}
impl<'a> IntoIterator for &'a ValueList {
    type Item = &'a Value;
    type IntoIter = core::slice::Iter<'a, Value>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
impl core::fmt::Debug for ValueList {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if is_too_deep(&self.0) { f.write_str("[…]") } else { f.debug_list().entries(&self.0).finish() }
    }
}
impl Clone for ValueList {
    fn clone(&self) -> Self {
        // The remaining items of each list that is being copied, and its copy up to here; the outermost first.
        let mut open = vec![(self.0.iter(), Vec::new())];
        loop {
            let Some((left, copy)) = open.last_mut() else { return ValueList::default() };
            match left.next() {
                Some(Value::List(list)) => open.push((list.0.iter(), Vec::with_capacity(list.len()))),
                Some(value) => copy.push(value.clone()),
                None => {
                    let copy = ValueList(core::mem::take(copy));
                    open.pop();
                    match open.last_mut() {
                        Some((_, outer)) => outer.push(Value::List(copy)),
                        None => return copy,
                    }
                }
            }
        }
    }
}
impl Drop for ValueList {
    fn drop(&mut self) {
        let mut left = core::mem::take(&mut self.0);
        while let Some(value) = left.pop() {
            if let Value::List(mut list) = value {
                // The list that is dropped here is empty.
                left.append(&mut list.0);
            }
        }
    }
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
        Value::List(vec![a.into(), b.into()].into())
    }
}
impl<A: Into<Value>, B: Into<Value>, C: Into<Value>> From<(A, B, C)> for Value {
    fn from((a, b, c): (A, B, C)) -> Self {
        Value::List(vec![a.into(), b.into(), c.into()].into())
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

/// The error for an argument or result of another type than expected.
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
