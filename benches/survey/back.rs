//! The way back of an operation: the gradients by all of its operands, of a graph that is kept.

use crate::arguments::Given;
use crate::layouts::Spec;
use castiron::any::{NamedOp, Value};
use castiron::{AnyTensor, Result};

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The operation.
    Forward,
    /// Its gradients (`torch.autograd.grad` with `retain_graph`), whose seeds are ones.
    Back,
}

/// A call that can be repeated.
pub type Call = Box<dyn Fn() -> Result<Value>>;

/// The operation is recorded once; each call of the result goes back. `None` where nothing requires a gradient.
#[cfg(feature = "grad")]
pub fn graph(
    op: &NamedOp,
    given: &[(&'static str, Given)],
    tensor: &mut dyn FnMut(&Spec) -> AnyTensor,
) -> Option<Call> {
    use castiron::any::{Args, GradOptions, call, grad};

    // Operations in place do not write to leaves.
    if op.name.ends_with('_') && !op.name.ends_with("__") {
        return None;
    }
    let mut leaves = Vec::new();
    let mut leaf = |spec: &Spec| {
        let mut x = tensor(spec).detach();
        if (spec.dtype.is_floating_point() || spec.dtype.is_complex()) && x.requires_grad_(true).is_ok() {
            leaves.push(x.clone());
        }
        x
    };
    let args = crate::arguments::args(op, given, &mut leaf);
    let mut outputs = Vec::new();
    differentiable(&call(op.name, &args).ok()?, &mut outputs);
    if outputs.is_empty() {
        return None;
    }
    let ones = |x: &AnyTensor| call("ones_like", &Args::new().arg(x.detach()))?.tensor();
    let seeds: Vec<AnyTensor> = outputs.iter().map(ones).collect::<Result<_>>().ok()?;
    Some(Box::new(move || {
        let seeds: Vec<&AnyTensor> = seeds.iter().collect();
        let outputs: Vec<&AnyTensor> = outputs.iter().collect();
        let inputs: Vec<&AnyTensor> = leaves.iter().collect();
        let options =
            GradOptions { seeds: Some(&seeds), retain_graph: true, allow_unused: true, ..GradOptions::default() };
        let gradients = grad(&outputs, &inputs, &options)?;
        Ok(Value::List(gradients.into_iter().map(|gradient| gradient.map_or(Value::Absent, Value::from)).collect()))
    }))
}

#[cfg(not(feature = "grad"))]
pub fn graph(_: &NamedOp, _: &[(&'static str, Given)], _: &mut dyn FnMut(&Spec) -> AnyTensor) -> Option<Call> {
    None
}

/// The results that require gradients.
#[cfg(feature = "grad")]
fn differentiable(value: &Value, into: &mut Vec<AnyTensor>) {
    match value {
        Value::Array(x) if x.requires_grad() => into.push(x.clone()),
        Value::List(items) => items.iter().for_each(|item| differentiable(item, into)),
        _ => {}
    }
}
