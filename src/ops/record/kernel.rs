//! Kernels being described: elements are loaded, converted to the compute type, passed to recorded formulas, and stored. `f16`, `bf16` and
//! `Complex<f16>` compute in `f32` and are rounded once, when they are converted back, as on the host.
//!
//! A kernel describes itself to a [`Kernel`] (`text` of `Map1`, `Map2`, `Map3` and `Expression`), either to be written, or only for the
//! arguments of a launch, which records nothing. What is recorded is a list of instructions, which a dialect prints; `operations` has the
//! rows of the tables.

use super::arguments::Arguments;
use super::graph::{Function, Kind, Unreadable};
use super::rows::{self, computes_in, suffix};
use crate::dtype::{Binary, DType, Element, Several, Tuned, Unary};
use core::any::{TypeId, type_name};
use std::collections::{BTreeMap, HashMap};

/// Elements that a kernel reads: the address of the first one on the device, and strides (0 beyond the rank).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operand {
    /// The address.
    pub address: u64,
    /// The stride of each axis, in elements.
    pub strides: [usize; 8],
}

/// Which value of a kernel it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// An element of an operand.
    Element(usize),
    /// A parameter, the same for all elements.
    Parameter(usize),
    /// The position of the element in the result, counted in row-major order.
    Index,
    /// A local variable: the result of a step.
    Local(usize),
}
/// A value of a kernel: its name and its dtype. Compute types are dtypes, too: that of `f16` is `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    pub(super) name: Name,
    pub(super) dtype: DType,
}
impl Value {
    /// Its dtype.
    pub(crate) fn dtype(self) -> DType {
        self.dtype
    }
}

/// A step of a kernel. Its result is a local variable, numbered in the order of steps.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Instruction {
    /// A constant, converted to the dtype of the result.
    Constant(f64),
    /// A conversion to the dtype of the result.
    Cast(Value),
    /// The second or the third by the first, a bool.
    Choose(Value, Value, Value),
    /// An operator between machine numbers, by its sign.
    Infix(Value, &'static str, Value),
    /// The opposite of a bool.
    Not(Value),
    /// Whether two elements that are bytes, two numbers in each, are the same.
    IsSameByte(Value, Value),
    /// A function that precedes all texts.
    Library(&'static str, Vec<Value>),
    /// A recorded function of the kernel, by name.
    Call(String, Vec<Value>),
}

/// A kernel being described, for one element of each operand.
pub struct Kernel {
    /// Whether text is written; otherwise only operands and arguments are collected.
    writes: bool,
    pub(super) functions: BTreeMap<String, Function>,
    /// The names of formulas outside the tables.
    formulas: HashMap<(TypeId, &'static str, DType), String>,
    pub(super) operands: Vec<(DType, Operand)>,
    pub(super) parameters: Vec<DType>,
    pub(super) values: Arguments,
    /// The steps, and the dtypes of their results.
    pub(super) instructions: Vec<(Instruction, DType)>,
    /// Whether it uses the position of the element.
    pub(super) counts: bool,
    failed: Option<Unreadable>,
}

impl Kernel {
    fn new(writes: bool) -> Kernel {
        Kernel {
            writes,
            functions: BTreeMap::new(),
            formulas: HashMap::new(),
            operands: Vec::new(),
            parameters: Vec::new(),
            values: Arguments::default(),
            instructions: Vec::new(),
            counts: false,
            failed: None,
        }
    }
    /// A kernel whose text is written.
    pub fn written() -> Kernel {
        Self::new(true)
    }
    /// A kernel whose text exists already: only operands and arguments are collected.
    pub fn launched() -> Kernel {
        Self::new(false)
    }
    /// Whether it could be described.
    pub(crate) fn check(&self) -> Result<(), Unreadable> {
        self.failed.clone().map_or(Ok(()), Err)
    }
    /// Notes why it cannot be described. Returns a placeholder value.
    pub(crate) fn refuse(&mut self, why: Unreadable, dtype: DType) -> Value {
        self.failed.get_or_insert(why);
        Value { name: Name::Index, dtype }
    }
    /// Whether text is written. Only the written text may depend on this.
    pub(super) fn writes(&self) -> bool {
        self.writes
    }

    /// A step with a result of this dtype.
    fn set(&mut self, dtype: DType, make: impl FnOnce() -> Instruction) -> Value {
        if !self.writes {
            return Value { name: Name::Index, dtype };
        }
        self.instructions.push((make(), dtype));
        Value { name: Name::Local(self.instructions.len() - 1), dtype }
    }

    /// An element of another operand.
    pub fn load(&mut self, dtype: DType, operand: Operand) -> Value {
        self.operands.push((dtype, operand));
        Value { name: Name::Element(self.operands.len() - 1), dtype }
    }
    /// The position of the element, an `i64`.
    pub fn index(&mut self) -> Value {
        self.counts = true;
        Value { name: Name::Index, dtype: DType::I64 }
    }
    /// Another parameter, the same for all elements: a run-time value; the text knows only its dtype.
    pub(crate) fn parameter<E: Element>(&mut self, value: E) -> Value {
        self.parameters.push(E::DTYPE);
        self.values.push(value);
        Value { name: Name::Parameter(self.parameters.len() - 1), dtype: E::DTYPE }
    }
    /// The same for a dtype known at run time, from the bytes of the value.
    pub(super) fn parameter_of(&mut self, dtype: DType, bytes: &[u8]) -> Value {
        self.parameters.push(dtype);
        self.values.push_bytes(bytes);
        Value { name: Name::Parameter(self.parameters.len() - 1), dtype }
    }
    /// A constant that depends on the kernel's type only, converted to a dtype.
    pub(crate) fn constant(&mut self, value: f64, dtype: DType) -> Value {
        self.set(dtype, || Instruction::Constant(value))
    }

    /// Converts the value to another dtype, like `Castable`.
    pub(crate) fn cast(&mut self, x: Value, to: DType) -> Value {
        if x.dtype == to {
            return x;
        }
        if [x.dtype, to].contains(&DType::F4E2M1FNX2) {
            return self.refuse(Unreadable::NoConversion(x.dtype, to), to);
        }
        self.set(to, || Instruction::Cast(x))
    }
    /// Converts the value to the compute type of its dtype.
    pub(crate) fn widen(&mut self, x: Value) -> Value {
        self.cast(x, computes_in(x.dtype))
    }
    /// Converts the value to a dtype, then to that dtype's compute type.
    pub(crate) fn operand(&mut self, x: Value, dtype: DType) -> Value {
        let x = self.cast(x, dtype);
        self.widen(x)
    }
    /// A select between two values of one dtype.
    pub(crate) fn choose(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        self.set(yes.dtype, || Instruction::Choose(condition, yes, no))
    }
    /// An operator between machine numbers, with a result of dtype `dtype`. (Wrapping integer arithmetic uses functions instead.)
    pub(crate) fn infix(&mut self, a: Value, sign: &'static str, b: Value, dtype: DType) -> Value {
        self.set(dtype, || Instruction::Infix(a, sign, b))
    }
    /// `!a` of a bool.
    pub(crate) fn not(&mut self, a: Value) -> Value {
        self.set(DType::Bool, || Instruction::Not(a))
    }
    /// A function of the prelude, named without its prefix.
    pub(crate) fn prelude(&mut self, name: &'static str, operands: &[Value], dtype: DType) -> Value {
        self.set(dtype, || Instruction::Library(name, operands.to_vec()))
    }

    /// A recorded formula, applied to values of the compute type.
    pub(super) fn call(&mut self, function: &str, operands: &[Value]) -> Value {
        let dtype = self.functions.get(function).map_or(DType::F32, |function| result_of(&function.results));
        self.set(dtype, || Instruction::Call(function.to_owned(), operands.to_vec()))
    }
    /// Records a function unless it is recorded already, and calls it.
    pub(crate) fn call_recorded(
        &mut self,
        name: String,
        operands: &[Value],
        record: impl FnOnce(&str) -> Result<Function, Unreadable>,
    ) -> Value {
        if !self.functions.contains_key(&name) {
            match record(&name) {
                Ok(function) => self.functions.insert(name.clone(), function),
                Err(why) => return self.refuse(why, operands[0].dtype),
            };
        }
        self.call(&name, operands)
    }
    /// A formula outside the tables. It is named after its type, with a number if that name is taken.
    fn formula<F: 'static>(
        &mut self,
        form: &'static str,
        operands: &[Value],
        read: fn(&str, DType) -> Result<Function, Unreadable>,
    ) -> Value {
        let dtype = operands[0].dtype;
        if !self.writes {
            return operands[0];
        }
        let key = (TypeId::of::<F>(), form, dtype);
        let name = self.formulas.get(&key).cloned().unwrap_or_else(|| {
            let whole = type_name::<F>();
            let path = whole.split('<').next().unwrap_or(whole);
            let word = path.rsplit("::").next().unwrap_or(path);
            let plain = format!("ci_g_{word}{form}_{}", suffix(dtype));
            let taken = |name: &String| self.functions.contains_key(name);
            let more = (2..).map(|at| format!("{plain}_{at}"));
            core::iter::once(plain.clone()).chain(more).find(|name| !taken(name)).unwrap_or_default()
        });
        self.formulas.insert(key, name.clone());
        self.call_recorded(name, operands, |name| read(name, dtype))
    }
    /// A formula of one machine number.
    pub(crate) fn unary<F: Unary>(&mut self, x: Value) -> Value {
        self.formula::<F>("", &[x], rows::unary::<F>)
    }
    /// A formula of two machine numbers of one dtype.
    pub(crate) fn binary<F: Binary>(&mut self, a: Value, b: Value) -> Value {
        self.formula::<F>("", &[a, b], rows::binary::<F>)
    }
    /// A formula of a machine number and parameters, all of one dtype.
    pub(crate) fn tuned<F: Tuned>(&mut self, x: Value, [first, second, third]: [Value; 3]) -> Value {
        self.formula::<F>("", &[x, first, second, third], rows::tuned::<F>)
    }
    /// A formula of six machine numbers of one dtype.
    pub(crate) fn several<F: Several>(&mut self, x: [Value; 6]) -> Value {
        self.formula::<F>("", &x, rows::several::<F>)
    }
    /// The formula of a row on elements of a dtype or of its compute type; the result is rounded to the dtype.
    pub(crate) fn rounded(&mut self, name: &'static str, dtype: DType, operands: &[Value]) -> Value {
        let wide: Vec<Value> = operands.iter().map(|&x| self.widen(x)).collect();
        let value = self.row(name, dtype, &wide);
        self.cast(value, dtype)
    }
    /// The smaller of two integers.
    pub(crate) fn least(&mut self, a: Value, b: Value) -> Value {
        let less = self.infix(a, "<", b, DType::Bool);
        self.choose(less, a, b)
    }
    /// Whether two elements are equal.
    pub(crate) fn equal(&mut self, a: Value, b: Value) -> Value {
        match a.dtype {
            DType::U16 | DType::U32 | DType::U64 => self.infix(a, "==", b, DType::Bool),
            DType::F4E2M1FNX2 => self.set(DType::Bool, || Instruction::IsSameByte(a, b)),
            dtype if dtype.is_shell() => {
                let sides = [self.cast(a, DType::F32), self.cast(b, DType::F32)];
                self.infix(sides[0], "==", sides[1], DType::Bool)
            }
            dtype => {
                let sides = [self.widen(a), self.widen(b)];
                self.row("eq", dtype, &sides)
            }
        }
    }
    /// A formula of two elements of one dtype, rounded to it.
    pub(crate) fn folded<F: Binary>(&mut self, a: Value, b: Value) -> Value {
        let sides = [self.widen(a), self.widen(b)];
        let value = self.binary::<F>(sides[0], sides[1]);
        self.cast(value, a.dtype)
    }
}

/// The dtype of a formula's results: one machine number, or two as a complex number.
fn result_of(results: &[Kind]) -> DType {
    match results {
        [Kind::F32, _] => DType::C64,
        [Kind::F64, _] => DType::C128,
        [kind, ..] => match kind {
            Kind::Bool => DType::Bool,
            Kind::U8 => DType::U8,
            Kind::I8 => DType::I8,
            Kind::I16 => DType::I16,
            Kind::I32 => DType::I32,
            Kind::I64 => DType::I64,
            Kind::F32 => DType::F32,
            Kind::F64 => DType::F64,
        },
        [] => DType::Bool,
    }
}
