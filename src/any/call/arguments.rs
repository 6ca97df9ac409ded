//! The arguments of a call by name: as given, bound to their names, and converted to the types that methods take.

use super::value::{Value, expect_shallow, wrong};
use crate::any::AnyTensor;
use crate::any::base::operand::AnyOperand;
use crate::device::AnyDevice;
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result};
use crate::layout::MemoryFormat;
use crate::ops::losses::LossReduction;
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
    /// No arguments.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a positional argument.
    #[must_use]
    pub fn arg(mut self, value: impl Into<Value>) -> Self {
        self.positional.push(value.into());
        self
    }
    /// Adds an argument by name.
    #[must_use]
    pub fn named(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.named.push((name.to_owned(), value.into()));
        self
    }
}

impl Args {
    /// The error for lists that are nested too deep.
    pub(super) fn expect_shallow(&self, op: &'static str) -> Result<()> {
        expect_shallow(op, &self.positional)?;
        self.named.iter().try_for_each(|(_, value)| expect_shallow(op, core::slice::from_ref(value)))
    }
}

/// Arguments bound to their names.
pub(crate) struct Bound<'a> {
    pub(crate) op: &'static str,
    names: &'static [&'static str],
    values: Vec<Option<&'a Value>>,
    rest: &'a [Value],
}

impl<'a> Bound<'a> {
    pub(super) fn new(op: &'static str, names: &'static [&'static str], args: &'a Args) -> Result<Self> {
        args.expect_shallow(op)?;
        // Arguments after `*rest` are given by name.
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

    /// An argument; `None` if it is not given.
    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        let at = self.names.iter().position(|known| *known == name);
        debug_assert!(at.is_some(), "`{}` has no argument `{name}`", self.op);
        self.values[at?].filter(|value| !matches!(value, Value::Absent))
    }

    /// An argument that must be given.
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

    /// The error for arguments that are not supported.
    pub(crate) fn refused<T>(&self, reason: String) -> Result<T> {
        Err(Error::InvalidArgument { op: self.op, reason })
    }

    /// An argument converted to the type that a method takes. A name that begins with `*` takes all remaining arguments.
    pub(crate) fn read<A: Argument<'a>>(&self, name: &str) -> Result<A> {
        A::read(self, name)
    }

    /// [`read`](Self::read), or the default if the argument is not given.
    pub(crate) fn read_or<A: Argument<'a>>(&self, name: &str, default: impl FnOnce() -> A) -> Result<A> {
        if self.is_left_out(name) { Ok(default()) } else { A::read(self, name) }
    }

    #[inline(never)]
    fn is_left_out(&self, name: &str) -> bool {
        !self.is_given(name) && (!name.starts_with('*') || self.rest.is_empty())
    }

    pub(crate) fn tensor(&self, name: &str) -> Result<&'a AnyTensor> {
        self.read(name)
    }

    /// The values of a list, given as one argument, or as several if the name begins with `*`.
    pub(crate) fn all(&self, name: &str) -> Result<&'a [Value]> {
        match (self.get(name), self.rest) {
            (Some(Value::List(values)), _) => Ok(values),
            (Some(one), _) => Ok(core::slice::from_ref(one)),
            (None, [Value::List(values)]) => Ok(values),
            (None, values) if name.starts_with('*') => Ok(values),
            (None, _) => self.value(name).map(core::slice::from_ref),
        }
    }

    /// All arguments that remain after the named ones.
    pub(crate) fn rest(&self) -> &'a [Value] {
        self.rest
    }

    /// Whether an argument was given as one list.
    pub(crate) fn is_list(&self, name: &str) -> bool {
        matches!((self.get(name), self.rest), (Some(Value::List(_)), _) | (None, [Value::List(_)]))
    }
}

/// Types that an argument of a call by name is converted to: see [`Bound::read`].
pub(crate) trait Argument<'a>: Sized {
    fn read(args: &Bound<'a>, name: &str) -> Result<Self>;
}

/// Types that a value, or an item of a list, is converted to.
pub(crate) trait Item<'a>: Sized {
    fn of(args: &Bound<'a>, name: &str, value: &'a Value) -> Result<Self>;
}

/// For `bool = |args, name, value| …` it writes the conversion of a value to that type.
macro_rules! items {
    ($($ty:ty = $of:expr;)*) => {$(
        impl<'a> Item<'a> for $ty {
            fn of(args: &Bound<'a>, name: &str, value: &'a Value) -> Result<Self> {
                let of: fn(&Bound<'a>, &str, &'a Value) -> Result<Self> = $of;
                of(args, name.trim_start_matches('*'), value)
            }
        }
        impl<'a> Argument<'a> for $ty {
            fn read(args: &Bound<'a>, name: &str) -> Result<Self> {
                args.value(name).and_then(|value| Self::of(args, name, value))
            }
        }
    )*};
}
items! {
    &'a Value = |_, _, value| Ok(value);
    &'a AnyTensor = |args, name, value| match value {
        Value::Array(tensor) => Ok(tensor),
        other => Err(args.wrong(name, "a tensor", other)),
    };
    AnyTensor = |args, name, value| match value {
        Value::Array(tensor) => Ok(tensor.clone()),
        other => Err(args.wrong(name, "tensors", other)),
    };
    AnyOperand = |args, name, value| match value {
        Value::Array(tensor) => Ok(tensor.into()),
        Value::Number(value) => Ok((*value).into()),
        other => Err(args.wrong(name, "a tensor or a scalar", other)),
    };
    ScalarValue = |args, name, value| match value {
        Value::Number(value) => Ok(*value),
        Value::Array(tensor) if tensor.numel() == 1 => tensor.item(),
        other => Err(args.wrong(name, "a scalar", other)),
    };
    f64 = |args, name, value| ScalarValue::of(args, name, value).map(ScalarValue::real_part);
    bool = |args, name, value| match value {
        Value::Number(ScalarValue::Bool(value)) => Ok(*value),
        Value::Number(ScalarValue::Int(value)) => Ok(*value != 0),
        other => Err(args.wrong(name, "a bool", other)),
    };
    i64 = |args, name, value| {
        let int = match value {
            Value::Number(ScalarValue::Int(int)) => i64::try_from(*int).ok(),
            Value::Number(ScalarValue::Bool(value)) => Some(i64::from(*value)),
            Value::Array(tensor) if tensor.numel() == 1 => match tensor.item()? {
                ScalarValue::Int(int) => i64::try_from(int).ok(),
                _ => None,
            },
            _ => None,
        };
        int.ok_or_else(|| args.wrong(name, "an integer", value))
    };
    usize = |args, name, value| {
        let value = i64::of(args, name, value)?;
        usize::try_from(value).or_else(|_| args.refused(format!("argument `{name}` must not be negative, got {value}")))
    };
    &'a str = |args, name, value| match value {
        Value::Str(text) => Ok(text),
        other => Err(args.wrong(name, "a string", other)),
    };
    DType = |args, name, value| match value {
        Value::Type(dtype) => Ok(*dtype),
        Value::Str(text) => text.parse().or_else(|error| args.refused(format!("{error}"))),
        other => Err(args.wrong(name, "a dtype", other)),
    };
    MemoryFormat = |args, name, value| match value {
        Value::Str(text) => {
            let text = text.strip_prefix("torch.").unwrap_or(text);
            text.parse().or_else(|_| args.refused(format!("no memory format is {text:?}")))
        }
        other => Err(args.wrong(name, "a memory format", other)),
    };
    AnyDevice = |args, name, value| AnyDevice::new(<&str>::of(args, name, value)?);
}

/// For `Vec<Value> = |args, name| …` it writes the conversion of an argument to that type.
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
    Vec<i64> = |args, name| args.all(name)?.iter().map(|value| i64::of(args, name, value)).collect();
    Vec<usize> = |args, name| args.all(name)?.iter().map(|value| usize::of(args, name, value)).collect();
    Vec<f64> = |args, name| args.all(name)?.iter().map(|value| f64::of(args, name, value)).collect();
    Vec<AnyTensor> = |args, name| args.all(name)?.iter().map(|value| AnyTensor::of(args, name, value)).collect();
    [i64; 2] = |args, name| {
        let found = args.value(name)?;
        <[i64; 2]>::try_from(args.read::<Vec<i64>>(name)?).map_err(|_| args.wrong(name, "two integers", found))
    };
    // An index is one value or a list; `None` is a new axis.
    Vec<Value> = |args, name| Ok(match args.get(name) {
        Some(Value::List(items)) => items.to_vec(),
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
    LossReduction = |args, name| {
        let text: &str = args.read(name)?;
        text.parse().or_else(|_| args.refused(format!("{name} is none, mean or sum, got {text:?}")))
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
