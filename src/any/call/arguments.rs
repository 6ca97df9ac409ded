//! The arguments of a call by name: as they are given, put in their places, and read as what a method takes.

use super::value::{Value, wrong};
use crate::any::AnyTensor;
use crate::any::base::operand::AnyOperand;
use crate::device::AnyDevice;
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result};
use crate::layout::MemoryFormat;
use crate::tensor::{Interpolation, ScatterReduce};

/// The arguments of an operation: in order, then by name.
///
/// ```
/// use castiron::any::{Args, call};
/// use castiron::{AnyTensor, tensor};
/// let x = AnyTensor::from(tensor![[1.0, 2.0], [3.0, 4.0]]);
/// let y = call("add", &Args::new().arg(&x).arg(1_i64).named("alpha", 2_i64))?;
/// assert_eq!(y.tensor()?.to_string(), "tensor([[3., 4.],\n        [5., 6.]])");
/// # Ok::<(), castiron::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Args {
    pub(crate) positional: Vec<Value>,
    pub(crate) named: Vec<(String, Value)>,
}

impl Args {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }
    /// One more in order.
    #[must_use]
    pub fn arg(mut self, value: impl Into<Value>) -> Self {
        self.positional.push(value.into());
        self
    }
    /// One more by name.
    #[must_use]
    pub fn named(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.named.push((name.to_owned(), value.into()));
        self
    }
}

/// Arguments put in their places.
pub(crate) struct Bound<'a> {
    pub(crate) op: &'static str,
    names: &'static [&'static str],
    values: Vec<Option<&'a Value>>,
    rest: &'a [Value],
}

impl<'a> Bound<'a> {
    pub(super) fn new(op: &'static str, names: &'static [&'static str], args: &'a Args) -> Result<Self> {
        // What comes after `*rest` is given by name.
        let variadic = names.iter().position(|name| name.starts_with('*'));
        let places = variadic.unwrap_or(names.len());
        let (first, rest) = args.positional.split_at(places.min(args.positional.len()));
        if variadic.is_none() && !rest.is_empty() {
            let reason = format!("takes {places} arguments ({}), got {}", names.join(", "), args.positional.len());
            return Err(Error::InvalidArgument { op, reason });
        }
        let mut values: Vec<Option<&Value>> = first.iter().map(Some).collect();
        values.resize(names.len(), None);
        for (name, value) in &args.named {
            // PyTorch's functions call the first tensor `input`, its methods `self`.
            let at = names.iter().position(|known| known.trim_start_matches('*') == name);
            let at = at.or_else(|| (matches!(&**name, "input" | "self") && !names.is_empty()).then_some(0));
            let Some(at) = at else {
                let reason = format!("has no argument `{name}`; its arguments are {}", names.join(", "));
                return Err(Error::InvalidArgument { op, reason });
            };
            if values[at].is_some() {
                return Err(Error::InvalidArgument { op, reason: format!("argument `{name}` is given twice") });
            }
            values[at] = Some(value);
        }
        Ok(Bound { op, names, values, rest })
    }

    /// An argument; `None` where it is left out.
    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        let at = self.names.iter().position(|known| *known == name);
        debug_assert!(at.is_some(), "`{}` has no argument `{name}`", self.op);
        self.values[at?].filter(|value| !matches!(value, Value::Absent))
    }

    /// An argument that is not left out.
    pub(crate) fn value(&self, name: &str) -> Result<&'a Value> {
        let missing = || Error::InvalidArgument { op: self.op, reason: format!("argument `{name}` is missing") };
        self.get(name).ok_or_else(missing)
    }

    pub(crate) fn is_given(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn wrong(&self, name: &str, expected: &str, found: &Value) -> Error {
        wrong(self.op, name, expected, found)
    }

    pub(crate) fn tensor(&self, name: &str) -> Result<&'a AnyTensor> {
        match self.value(name)? {
            Value::Array(tensor) => Ok(tensor),
            other => Err(self.wrong(name, "a tensor", other)),
        }
    }

    pub(crate) fn tensor_or_none(&self, name: &str) -> Result<Option<&'a AnyTensor>> {
        self.get(name).map(|_| self.tensor(name)).transpose()
    }

    /// A tensor or a scalar.
    pub(crate) fn operand(&self, name: &str) -> Result<AnyOperand> {
        match self.value(name)? {
            Value::Array(tensor) => Ok(tensor.into()),
            Value::Number(value) => Ok((*value).into()),
            other => Err(self.wrong(name, "a tensor or a scalar", other)),
        }
    }

    pub(crate) fn operand_or_none(&self, name: &str) -> Result<Option<AnyOperand>> {
        self.get(name).map(|_| self.operand(name)).transpose()
    }

    pub(crate) fn scalar(&self, name: &str) -> Result<ScalarValue> {
        match self.value(name)? {
            Value::Number(value) => Ok(*value),
            Value::Array(tensor) if tensor.numel() == 1 => tensor.item(),
            other => Err(self.wrong(name, "a scalar", other)),
        }
    }

    pub(crate) fn scalar_or(&self, name: &str, default: ScalarValue) -> Result<ScalarValue> {
        if self.is_given(name) { self.scalar(name) } else { Ok(default) }
    }

    pub(crate) fn int(&self, name: &str) -> Result<i64> {
        self.value(name).and_then(|value| self.as_int(name, value))
    }

    pub(crate) fn as_int(&self, name: &str, value: &Value) -> Result<i64> {
        let int = match value {
            Value::Number(ScalarValue::Int(int)) => i64::try_from(*int).ok(),
            Value::Number(ScalarValue::Bool(value)) => Some(i64::from(*value)),
            Value::Array(tensor) if tensor.numel() == 1 => match tensor.item()? {
                ScalarValue::Int(int) => i64::try_from(int).ok(),
                _ => None,
            },
            _ => None,
        };
        int.ok_or_else(|| self.wrong(name, "an integer", value))
    }

    pub(crate) fn int_or(&self, name: &str, default: i64) -> Result<i64> {
        if self.is_given(name) { self.int(name) } else { Ok(default) }
    }

    pub(crate) fn int_or_none(&self, name: &str) -> Result<Option<i64>> {
        self.get(name).map(|_| self.int(name)).transpose()
    }

    pub(crate) fn float_or(&self, name: &str, default: f64) -> Result<f64> {
        Ok(if self.is_given(name) { self.scalar(name)?.real_part() } else { default })
    }

    pub(crate) fn float_or_none(&self, name: &str) -> Result<Option<f64>> {
        self.get(name).map(|_| self.scalar(name).map(ScalarValue::real_part)).transpose()
    }

    pub(crate) fn bool_or(&self, name: &str, default: bool) -> Result<bool> {
        match self.get(name) {
            None => Ok(default),
            Some(Value::Number(ScalarValue::Bool(value))) => Ok(*value),
            Some(Value::Number(ScalarValue::Int(value))) => Ok(*value != 0),
            Some(other) => Err(self.wrong(name, "a bool", other)),
        }
    }

    pub(crate) fn str_or(&self, name: &str, default: &'a str) -> Result<&'a str> {
        match self.get(name) {
            None => Ok(default),
            Some(Value::Str(text)) => Ok(text),
            Some(other) => Err(self.wrong(name, "a string", other)),
        }
    }

    pub(crate) fn memory_format(&self, default: MemoryFormat) -> Result<MemoryFormat> {
        match self.get("memory_format") {
            None => Ok(default),
            Some(Value::Str(text)) => {
                let text = text.strip_prefix("torch.").unwrap_or(text);
                let refused =
                    |_| Error::InvalidArgument { op: self.op, reason: format!("no memory format is {text:?}") };
                text.parse().map_err(refused)
            }
            Some(other) => Err(self.wrong("memory_format", "a memory format", other)),
        }
    }

    pub(crate) fn dtype_or_none(&self, name: &str) -> Result<Option<DType>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Type(dtype)) => Ok(Some(*dtype)),
            Some(Value::Str(text)) => {
                let parsed = text.parse();
                parsed.map(Some).map_err(|error| Error::InvalidArgument { op: self.op, reason: format!("{error}") })
            }
            Some(other) => Err(self.wrong(name, "a dtype", other)),
        }
    }

    /// Integers: a list, or one.
    pub(crate) fn ints(&self, name: &str) -> Result<Vec<i64>> {
        match self.value(name)? {
            Value::List(values) => values.iter().map(|value| self.as_int(name, value)).collect(),
            value => Ok(vec![self.as_int(name, value)?]),
        }
    }

    pub(crate) fn ints_or_none(&self, name: &str) -> Result<Option<Vec<i64>>> {
        self.get(name).map(|_| self.ints(name)).transpose()
    }

    /// All that are left after the named ones: PyTorch's `*sizes`, given one by one or as a list.
    pub(crate) fn rest_ints(&self, name: &str) -> Result<Vec<i64>> {
        if let Some(value) = self.get(name) {
            return match value {
                Value::List(values) => values.iter().map(|value| self.as_int(name, value)).collect(),
                value => Ok(vec![self.as_int(name, value)?]),
            };
        }
        match self.rest {
            [Value::List(values)] => values.iter().map(|value| self.as_int(name, value)).collect(),
            values => values.iter().map(|value| self.as_int(name, value)).collect(),
        }
    }

    /// All that are left after the named ones.
    pub(crate) fn rest(&self) -> &'a [Value] {
        self.rest
    }

    /// A dtype among those left, which some methods take in place of sizes.
    pub(crate) fn rest_dtype(&self) -> Option<DType> {
        match self.rest {
            [Value::Type(dtype)] => Some(*dtype),
            _ => None,
        }
    }

    /// Whether what is left is one list.
    pub(crate) fn is_list(&self, name: &str) -> bool {
        matches!((self.get(name), self.rest), (Some(Value::List(_)), _) | (None, [Value::List(_)]))
    }

    /// Tensors: a list, or all that are left.
    pub(crate) fn tensors(&self, name: &str) -> Result<Vec<AnyTensor>> {
        let values: Vec<&Value> = match (self.get(name), self.rest) {
            (Some(Value::List(values)), _) | (None, [Value::List(values)]) => values.iter().collect(),
            (Some(value), _) => vec![value],
            (None, values) => values.iter().collect(),
        };
        let tensor = |value: &&Value| match value {
            Value::Array(tensor) => Ok(tensor.clone()),
            other => Err(self.wrong(name, "tensors", other)),
        };
        values.iter().map(tensor).collect()
    }
}

/// What an argument of a call by name is read as: see [`Bound::read`].
pub(crate) trait Argument<'a>: Sized {
    fn read(args: &Bound<'a>, name: &str) -> Result<Self>;
}

impl<'a> Bound<'a> {
    /// An argument as what a method takes. One whose name begins with `*` is all that are left.
    pub(crate) fn read<A: Argument<'a>>(&self, name: &str) -> Result<A> {
        A::read(self, name)
    }

    /// The same, where it may be left out.
    pub(crate) fn read_or<A: Argument<'a>>(&self, name: &str, default: impl FnOnce() -> A) -> Result<A> {
        let is_left_out = !self.is_given(name) && (!name.starts_with('*') || self.rest.is_empty());
        if is_left_out { Ok(default()) } else { A::read(self, name) }
    }

    /// What the arguments say is not done.
    pub(crate) fn refused<T>(&self, reason: String) -> Result<T> {
        Err(Error::InvalidArgument { op: self.op, reason })
    }

    fn unsigned(&self, name: &str, value: i64) -> Result<usize> {
        usize::try_from(value).map_err(|_| Error::InvalidArgument {
            op: self.op,
            reason: format!("argument `{}` must not be negative, got {value}", name.trim_start_matches('*')),
        })
    }
}

/// For `i64 = |args, name| args.int(name)` it writes how the type is read.
macro_rules! arguments {
    ($($ty:ty = $read:expr;)*) => {$(
        impl<'a> Argument<'a> for $ty {
            fn read(args: &Bound<'a>, name: &str) -> Result<Self> {
                let read: fn(&Bound<'a>, &str) -> Result<Self> = $read;
                read(args, name)
            }
        }
    )*};
}
arguments! {
    &'a AnyTensor = |args, name| args.tensor(name);
    &'a str = |args, name| args.value(name).and_then(|_| args.str_or(name, ""));
    &'a Value = |args, name| args.value(name);
    AnyOperand = |args, name| args.operand(name);
    ScalarValue = |args, name| args.scalar(name);
    AnyDevice = |args, name| args.read(name).and_then(|device: &str| AnyDevice::new(device));
    bool = |args, name| args.value(name).and_then(|_| args.bool_or(name, false));
    i64 = |args, name| args.int(name);
    usize = |args, name| args.int(name).and_then(|value| args.unsigned(name, value));
    f64 = |args, name| args.scalar(name).map(ScalarValue::real_part);
    DType = |args, name| args.value(name).and_then(|found| {
        args.dtype_or_none(name)?.ok_or_else(|| args.wrong(name, "a dtype", found))
    });
    Vec<i64> = |args, name| if name.starts_with('*') { args.rest_ints(name) } else { args.ints(name) };
    Vec<usize> = |args, name| {
        args.read::<Vec<i64>>(name)?.into_iter().map(|value| args.unsigned(name, value)).collect()
    };
    [i64; 2] = |args, name| {
        let found = args.value(name)?;
        <[i64; 2]>::try_from(args.ints(name)?).map_err(|_| args.wrong(name, "two integers", found))
    };
    Vec<AnyTensor> = |args, name| args.tensors(name);
    MemoryFormat = |args, _| args.memory_format(MemoryFormat::PRESERVE);
    // An index is one thing or a list; none is `None`, which is a new axis.
    Vec<Value> = |args, name| Ok(match args.get(name) {
        Some(Value::List(items)) => items.clone(),
        Some(one) => vec![one.clone()],
        None => vec![Value::Absent],
    });
    Vec<Option<&'a AnyTensor>> = |args, name| {
        let found = args.value(name)?;
        let Value::List(items) = found else { return Err(args.wrong(name, "a list of tensors", found)) };
        let index = |item: &'a Value| match item {
            Value::Array(tensor) => Ok(Some(tensor)),
            other => Err(args.wrong(name, "tensors", other)),
        };
        items.iter().map(index).collect()
    };
    Interpolation = |args, name| match args.read(name)? {
        "linear" => Ok(Interpolation::Linear),
        "lower" => Ok(Interpolation::Lower),
        "higher" => Ok(Interpolation::Higher),
        "midpoint" => Ok(Interpolation::Midpoint),
        "nearest" => Ok(Interpolation::Nearest),
        other => args.refused(format!("{name} is linear, lower, higher, midpoint or nearest, got {other:?}")),
    };
    ScatterReduce = |args, name| match args.read(name)? {
        "sum" | "add" => Ok(ScatterReduce::Sum),
        "prod" | "multiply" => Ok(ScatterReduce::Prod),
        "mean" => Ok(ScatterReduce::Mean),
        "amax" => Ok(ScatterReduce::Amax),
        "amin" => Ok(ScatterReduce::Amin),
        other => args.refused(format!("there is no reduction {other:?}")),
    };
}

impl<'a, A: Argument<'a>> Argument<'a> for Option<A> {
    fn read(args: &Bound<'a>, name: &str) -> Result<Self> {
        args.get(name).map(|_| A::read(args, name)).transpose()
    }
}
