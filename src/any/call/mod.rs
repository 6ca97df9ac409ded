//! Operations by name, with PyTorch's names and argument names: what scripts, conformance and documentation read.

mod ops;
pub(crate) mod outputs;

use self::ops as rows;
use crate::any::AnyTensor;
use crate::any::base::operand::AnyOperand;
use crate::any::elementwise::op_table::{BINARY, UNARY, torch_names};
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result};
use crate::layout::MemoryFormat;
use std::collections::HashMap;
use std::sync::OnceLock;

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

/// An operation that can be called by name.
#[derive(Clone, Copy)]
pub struct NamedOp {
    /// PyTorch's name, without `torch.`: `linalg.vector_norm`, `nn.functional.pad`, `__getitem__`.
    pub name: &'static str,
    /// The names of its arguments, in order. One that begins with `*` takes all that are left; those after it are given by name.
    pub arguments: &'static [&'static str],
    /// The dtypes that the first operand may have.
    pub dtypes: &'static str,
    pub(crate) run: Run,
    pub(crate) forms: Forms,
}

/// What else is known of an operation: columns of its row.
#[derive(Clone, Copy)]
pub(crate) struct Forms {
    /// Its other names.
    pub(crate) aliases: &'static [&'static str],
    pub(crate) in_place: InPlace,
    /// Which dtype an existing output must have; `None` where that follows from the rule of the result.
    pub(crate) output: Option<Output>,
}

impl Forms {
    /// No aliases, no form in place.
    pub(crate) const NEW: Forms = Forms { aliases: &[], in_place: InPlace::Absent, output: None };

    pub(crate) const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Forms { aliases, ..self }
    }
    pub(crate) const fn in_place(self, in_place: InPlace) -> Self {
        Forms { in_place, ..self }
    }
    pub(crate) const fn output(self, output: Output) -> Self {
        Forms { output: Some(output), ..self }
    }
}

/// The form of an operation whose name ends in `_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InPlace {
    /// There is none.
    Absent,
    /// The result is written over the operand's elements.
    Elements,
    /// The view takes the operand's place.
    View,
}

/// Which dtype an existing output must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// That of the result.
    Exact,
    /// One that the result can be cast to.
    Castable,
    /// The same; of bounds that are scalars, and so no operands, that of the result.
    CastableBetweenTensors,
    /// Such a one that is complex only if the operand is.
    AsReal,
    /// Any that it can be computed in.
    Computes,
    /// The same, of an operand that is floating or complex.
    ComputesInexact,
    /// `bool` or `uint8`.
    Truth,
}

/// How an operation is run.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    Unary(&'static crate::any::elementwise::op_table::UnaryRow),
    Binary(&'static crate::any::elementwise::op_table::BinaryRow),
    Bound(fn(&Bound<'_>) -> Result<Value>),
}

/// Arguments put in their places.
pub(crate) struct Bound<'a> {
    pub(crate) op: &'static str,
    names: &'static [&'static str],
    values: Vec<Option<&'a Value>>,
    rest: &'a [Value],
}

fn wrong(op: &'static str, name: &str, expected: &str, found: &Value) -> Error {
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

impl<'a> Bound<'a> {
    fn new(op: &'static str, names: &'static [&'static str], args: &'a Args) -> Result<Self> {
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

/// Every operation that can be called by name, with its arguments and the dtypes it admits.
///
/// ```
/// let add = castiron::any::ops().find(|op| op.name == "add").unwrap();
/// assert_eq!(add.arguments, ["input", "other", "alpha"]);
/// ```
pub fn ops() -> impl Iterator<Item = NamedOp> {
    let unary = UNARY.iter().map(|row| NamedOp {
        name: row.called(),
        arguments: &["input"],
        dtypes: row.admits.words(),
        run: Run::Unary(row),
        forms: Forms::NEW.in_place(InPlace::Elements),
    });
    let binary = BINARY.iter().map(|row| NamedOp {
        name: row.called(),
        arguments: &["input", "other"],
        dtypes: row.admits.words(),
        run: Run::Binary(row),
        forms: Forms::NEW.in_place(InPlace::Elements),
    });
    // Rows of `ops` come first: they may take more arguments than those of the tables.
    let mut seen = std::collections::HashSet::new();
    rows::NAMED
        .iter()
        .flat_map(|ops| ops.iter().copied())
        .chain(unary)
        .chain(binary)
        .filter(move |op| seen.insert(op.name))
}

/// Every operation by each of its names.
fn operations() -> &'static HashMap<&'static str, NamedOp> {
    static OPERATIONS: OnceLock<HashMap<&'static str, NamedOp>> = OnceLock::new();
    OPERATIONS.get_or_init(|| {
        let mut known: HashMap<&'static str, NamedOp> = ops().map(|op| (op.name, op)).collect();
        let named = rows::NAMED.iter().flat_map(|ops| ops.iter());
        let aliases = named.flat_map(|op| op.forms.aliases.iter().map(|&alias| (alias, op.name)));
        let unary = UNARY.iter().flat_map(|row| torch_names(row.torch).map(|name| (name, row.called())));
        let binary = BINARY.iter().flat_map(|row| torch_names(row.torch).map(|name| (name, row.called())));
        let aliases: Vec<_> = aliases.chain(unary).chain(binary).collect();
        for (alias, of) in aliases {
            let op = known[of];
            known.entry(alias).or_insert(op);
        }
        known
    })
}

/// The operation that another name of PyTorch's stands for.
pub fn alias(name: &str) -> Option<&'static str> {
    operations().get(name).map(|op| op.name).filter(|&of| of != name)
}

/// The operation of a name or an alias.
pub(crate) fn operation(name: &str) -> Result<&'static NamedOp> {
    let name = name.strip_prefix("torch.").unwrap_or(name);
    operations().get(name).ok_or_else(|| {
        let reason = format!("there is no operation `{name}`");
        Error::InvalidArgument { op: "call", reason }
    })
}

/// Calls an operation by PyTorch's name, with PyTorch's arguments.
///
/// # Errors
/// If there is no such operation, an argument is not what it takes, or the operation fails.
///
/// ```
/// use castiron::any::{Args, call};
/// use castiron::{AnyTensor, tensor};
/// let x = AnyTensor::from(tensor![3.0, -4.0]);
/// assert_eq!(call("abs", &Args::new().arg(&x))?.tensor()?.to_string(), "tensor([3., 4.])");
/// assert_eq!(
///     call("abs", &Args::new()).unwrap_err().to_string(),
///     "abs: argument `input` is missing"
/// );
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn call(name: &str, args: &Args) -> Result<Value> {
    let op = operation(name)?;
    let bound = Bound::new(op.name, op.arguments, args)?;
    match op.run {
        Run::Unary(row) => bound.tensor("input")?.apply(row).map(Value::Array),
        Run::Binary(row) => {
            if !row.operands.begin_with_scalars {
                bound.tensor("input")?;
            }
            crate::any::elementwise::apply::combine(row, &bound.operand("input")?, &bound.operand("other")?)
                .map(Value::Array)
        }
        Run::Bound(run) => run(&bound),
    }
}
