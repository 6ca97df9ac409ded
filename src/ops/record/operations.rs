//! Table operations in kernels: how a row applies its formula, by its rule.

use super::graph::Unreadable;
use super::kernel::{Kernel, Value};
use super::rows::{Row, all, computes_in};
use crate::dtype::DType;
use crate::ops::rules::result::{Rule, Step};

/// The float that bools and integers become: in types always `f32`, whatever the default dtype is.
fn inexact(dtype: DType) -> DType {
    if dtype.is_floating_point() || dtype.is_complex() { dtype } else { DType::F32 }
}

/// The dtype computed in, for operands of this dtype.
fn computes(rule: Rule, dtype: DType) -> DType {
    match rule.computes() {
        Step::inexact => inexact(dtype),
        step => step.of(dtype),
    }
}

fn row(name: &str, by_scalar: bool) -> Option<&'static Row> {
    all().find(|row| row.name == name && row.by_scalar == by_scalar)
}

impl Kernel {
    /// The formula of the row of this name for a dtype that it computes in; the values are of that dtype's compute type.
    pub(crate) fn row(&mut self, name: &'static str, dtype: DType, operands: &[Value]) -> Value {
        if !self.writes() {
            return operands[0];
        }
        match row(name, false) {
            Some(row) => self.recorded(row, dtype, operands),
            None => self.refuse(Unreadable::NotAdmitted, dtype),
        }
    }
    fn recorded(&mut self, row: &'static Row, dtype: DType, operands: &[Value]) -> Value {
        self.call_recorded(row.function(dtype), operands, |_| row.record(dtype))
    }

    /// A unary operation; the result has its own dtype.
    pub(crate) fn apply(&mut self, name: &'static str, x: Value) -> Value {
        if !self.writes() {
            return x;
        }
        match row(name, false) {
            Some(row) => self.apply_row(row, x),
            None => self.refuse(Unreadable::NotAdmitted, x.dtype),
        }
    }
    pub(super) fn apply_row(&mut self, row: &'static Row, x: Value) -> Value {
        let dtype = x.dtype;
        let computes = match row.result {
            // The operand itself, to be divided.
            Rule::divided => dtype,
            Rule::integer => Rule::integer.gives().of(dtype),
            rule => computes(rule, dtype),
        };
        let wide = self.operand(x, computes);
        let value = self.recorded(row, computes, &[wide]);
        match row.result {
            Rule::boolean | Rule::mask => value,
            Rule::real_part | Rule::angle => self.cast(value, computes.to_real()),
            Rule::divided | Rule::subtracted => {
                // The operand and the formula's result, each in the result dtype.
                let part = self.cast(value, computes);
                let result = inexact(dtype);
                let sides = [x, part].map(|side| self.operand(side, result));
                let other = if row.result == Rule::divided { "div" } else { "sub" };
                let value = self.row(other, result, &sides);
                self.cast(value, result)
            }
            _ => self.cast(value, computes),
        }
    }

    /// A binary operation on values of the compute type of `computes`; the second may be a scalar, for which some rows have a separate
    /// formula. The result has its own dtype.
    pub(crate) fn combine(
        &mut self,
        name: &'static str,
        computes: DType,
        result: DType,
        [a, b]: [Value; 2],
        by_scalar: bool,
    ) -> Value {
        if !self.writes() {
            return a;
        }
        let inexact = computes.is_floating_point() || computes.is_complex();
        let special = if by_scalar && inexact { row(name, true) } else { None };
        let Some(row) = special.or_else(|| row(name, false)) else {
            return self.refuse(Unreadable::NotAdmitted, result);
        };
        let value = self.recorded(row, computes, &[a, b]);
        self.cast(value, result)
    }

    /// A unary operation with parameters, all of the compute type of `computes`; the result has that dtype.
    pub(crate) fn tune(&mut self, name: &'static str, computes: DType, x: Value, parameters: [Value; 3]) -> Value {
        let x = self.operand(x, computes);
        let [first, second, third] = parameters;
        let value = self.row(name, computes, &[x, first, second, third]);
        debug_assert!(!self.writes() || value.dtype == computes_in(computes) || self.check().is_err());
        self.cast(value, computes)
    }
}
