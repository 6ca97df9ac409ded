//! Kernels around recorded formulas: elements are loaded, converted to what is computed in, and stored. `f16`, `bf16` and
//! `Complex<f16>` compute in `f32` and are rounded once, when they are stored, as on the host.
//!
//! Uses `rows` and `write`; a CUDA device compiles what this gives.

use super::graph::{Function, Unreadable};
use super::rows::{Row, all, computes_in};
use super::write::library;
use crate::dtype::DType;
use crate::ops::rules::result::Rule;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The type of elements of a dtype.
pub(crate) fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::U8 => "ci_u8",
        DType::I8 => "ci_i8",
        DType::I16 => "ci_i16",
        DType::I32 => "ci_i32",
        DType::I64 => "ci_i64",
        DType::F16 => "ci_f16",
        DType::BF16 => "ci_bf16",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::C32 => "ci_c<ci_f16>",
        DType::C64 => "ci_c<float>",
        DType::C128 => "ci_c<double>",
        _ => "ci_shell",
    }
}

/// A value of a kernel: its name and its dtype.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    name: String,
    dtype: DType,
}

/// A kernel under way, for the element `i` of each operand.
#[derive(Default)]
pub(crate) struct Kernel {
    functions: BTreeMap<String, Function>,
    parameters: Vec<String>,
    body: String,
    values: usize,
}
impl Kernel {
    fn set(&mut self, dtype: DType, text: &str) -> Value {
        let name = format!("x{}", self.values);
        self.values += 1;
        let _ = writeln!(self.body, "    const {} {name} = {text};", c_type(dtype));
        Value { name, dtype }
    }
    /// An element of one more operand.
    pub(crate) fn load(&mut self, dtype: DType) -> Value {
        let at = self.parameters.len();
        self.parameters.push(format!("const {}* __restrict__ p{at}", c_type(dtype)));
        self.set(dtype, &format!("p{at}[i]"))
    }
    /// One more parameter, the same for all elements.
    pub(crate) fn parameter(&mut self, dtype: DType) -> Value {
        let name = format!("p{}", self.parameters.len());
        self.parameters.push(format!("const {} {name}", c_type(dtype)));
        Value { name, dtype }
    }
    /// The value in another dtype, as `Castable` has it.
    pub(crate) fn cast(&mut self, x: Value, to: DType) -> Value {
        if x.dtype == to { x } else { self.set(to, &format!("ci_cast<{}>({})", c_type(to), x.name)) }
    }
    /// The value in what its dtype computes in.
    pub(crate) fn widen(&mut self, x: Value) -> Value {
        let to = computes_in(x.dtype);
        self.cast(x, to)
    }
    /// The first where the condition holds, else the second; both of one dtype.
    pub(crate) fn choose(&mut self, condition: &Value, yes: &Value, no: &Value) -> Value {
        self.set(yes.dtype, &format!("{} ? {} : {}", condition.name, yes.name, no.name))
    }
    /// A recorded formula of values that are what it computes in; its result is of this dtype.
    pub(crate) fn call(&mut self, function: Function, operands: &[Value], result: DType) -> Value {
        let part = |x: &Value| if x.dtype.is_complex() { format!("{0}.re, {0}.im", x.name) } else { x.name.clone() };
        let given: Vec<String> = operands.iter().map(part).collect();
        let text = format!("{}({})", function.name, given.join(", "));
        self.functions.insert(function.name.clone(), function);
        self.set(result, &text)
    }
    /// The text of the kernel that stores this value, without the prelude.
    pub(crate) fn text(&self, name: &str, result: &Value) -> String {
        format!(
            "{}CI_KERNEL void {name}({}, {}* __restrict__ out, const ci_u64 n) {{\n  CI_EACH(i, n) {{\n{}    out[i] = {};\n  }}\n}}\n",
            library(self.functions.values()),
            self.parameters.join(", "),
            c_type(result.dtype),
            self.body,
            result.name
        )
    }
}

/// What bools and integers become in functions of floats.
fn inexact(dtype: DType) -> DType {
    if dtype.is_floating_point() || dtype.is_complex() { dtype } else { DType::F32 }
}

/// The kernel of an operation of one operand, for elements of this dtype: its text and the dtype of its result.
pub(crate) fn elementwise(row: &Row, name: &str, dtype: DType) -> Result<(String, DType), Unreadable> {
    let mut kernel = Kernel::default();
    let x = kernel.load(dtype);
    let computes = match row.result {
        // The operand itself, before it is divided by.
        Rule::divided => dtype,
        Rule::integer => Rule::integer.gives().of(dtype),
        rule => rule.computes().of(dtype),
    };
    let cast = kernel.cast(x.clone(), computes);
    let wide = kernel.widen(cast);
    let formula = row.record(computes)?;
    let stored = match row.result {
        Rule::boolean | Rule::mask => kernel.call(formula, &[wide], DType::Bool),
        Rule::real_part | Rule::angle => {
            let value = kernel.call(formula, &[wide], computes_in(computes).to_real());
            kernel.cast(value, computes.to_real())
        }
        Rule::divided | Rule::subtracted => {
            // The operand and what the formula gives, each in the dtype of the result.
            let part = kernel.call(formula, std::slice::from_ref(&wide), wide.dtype);
            let part = kernel.cast(part, computes);
            let result = inexact(dtype);
            let sides = [x, part].map(|side| {
                let side = kernel.cast(side, result);
                kernel.widen(side)
            });
            let other = if row.result == Rule::divided { "div" } else { "sub" };
            let other = all().find(|row| row.name == other).ok_or(Unreadable::NotAdmitted)?;
            let value = kernel.call(other.record(result)?, &sides, computes_in(result));
            kernel.cast(value, result)
        }
        _ => {
            let ty = wide.dtype;
            let value = kernel.call(formula, &[wide], ty);
            kernel.cast(value, computes)
        }
    };
    Ok((kernel.text(name, &stored), stored.dtype))
}
