//! Results written into existing tensors: the in-place forms of operations without a loop of their own for it, and all of them by name.

use crate::any::base::operand::{AnyOperand, same_device};
use crate::any::call::{Args, InPlace, NamedOp, Output, Value, operation};
use crate::any::elementwise::apply::{check_output, check_shape};
use crate::any::elementwise::op_table::{BINARY, BinaryRow, UNARY, UnaryRow};
use crate::any::elementwise::parametric::casts_output;
use crate::any::{AnyTensor, call};
use crate::dtype::{Category, DType};
use crate::error::{Error, Result, invalid};
use std::collections::HashMap;
use std::sync::LazyLock;

impl AnyTensor {
    /// Writes the elements of a result, which must be castable to the dtype and have the shape.
    pub(crate) fn overwrite(&mut self, op: &'static str, result: &AnyTensor) -> Result<&mut Self> {
        check_output(op, false, result.dtype, self.dtype)?;
        check_shape(op, &result.sizes, &self.sizes)?;
        self.copy_from(result)
    }
}

/// Which dtypes are allowed for the outputs of a call.
fn output(op: &NamedOp, args: &Args) -> Output {
    let bounds = || args.positional.iter().skip(1).chain(args.named.iter().map(|(_, value)| value));
    match op.forms.output {
        Some(Output::CastableBetweenTensors) if bounds().any(|value| matches!(value, Value::Array(_))) => {
            Output::Castable
        }
        Some(Output::CastableBetweenTensors) => Output::Exact,
        Some(output) => output,
        None => {
            // Elementwise operations whose operands are given by name, or whose first operand is a scalar.
            let is_exact = match (unary_row(op.name), binary_row(op.name)) {
                (Some(row), _) => row.rule.is_exact(1),
                (None, Some(row)) => row.rule.is_exact(2),
                (None, None) => !casts_output(op.name).unwrap_or(false),
            };
            if is_exact { Output::Exact } else { Output::Castable }
        }
    }
}

fn unary_row(op: &str) -> Option<&'static UnaryRow> {
    static ROWS: LazyLock<HashMap<&str, &UnaryRow>> =
        LazyLock::new(|| UNARY.iter().map(|&row| (row.called(), row)).collect());
    ROWS.get(op).copied()
}

fn binary_row(op: &str) -> Option<&'static BinaryRow> {
    static ROWS: LazyLock<HashMap<&str, &BinaryRow>> =
        LazyLock::new(|| BINARY.iter().map(|&row| (row.called(), row)).collect());
    ROWS.get(op).copied()
}

/// The operand of a call without other arguments.
fn only_operand(values: &[Value], args: &Args) -> Option<AnyOperand> {
    match values {
        [Value::Array(other)] if args.named.is_empty() => Some(other.into()),
        [Value::Number(other)] if args.named.is_empty() => Some((*other).into()),
        _ => None,
    }
}

/// Calls an operation by PyTorch's name in place: `x.name_(args)`, with or without the `_`. The result must be castable to the dtype
/// of `x` and have its shape; for views (`t_`, `squeeze_`, …) `x` becomes the view.
///
/// # Errors
/// If there is no such operation or it has no form in place, an argument has a wrong type, the operation fails, or its result does
/// not fit. `x` is unchanged then.
///
/// ```
/// use castiron::any::{Args, call_in_place};
/// use castiron::{AnyTensor, tensor};
/// let mut x = AnyTensor::from(tensor![1.0, 2.0, 3.0]);
/// let mask = x.gt(1)?;
/// call_in_place("masked_fill_", &mut x, &Args::new().arg(&mask).arg(0.5))?;
/// assert_eq!(x.to_string(), "tensor([1.0000, 0.5000, 0.5000])");
/// assert!(call_in_place("sort", &mut x, &Args::new()).is_err());
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn call_in_place(name: &str, x: &mut AnyTensor, args: &Args) -> Result<()> {
    args.expect_shallow("call")?;
    // `__setitem__` ends in `_` itself.
    let name = name.strip_suffix('_').filter(|name| !name.ends_with('_')).unwrap_or(name);
    match (name, &args.positional[..]) {
        ("zero", []) => return x.fill_(false).map(|_| ()),
        ("copy", [Value::Array(from)]) => return x.copy_from(from).map(|_| ()),
        ("fill", [Value::Number(value)]) if args.named.is_empty() => return x.fill_value("fill", *value),
        ("copy", [Value::Number(value)]) => return x.fill_value("copy_", *value),
        ("__setitem__", [index, value]) => {
            let value = match value {
                Value::Array(value) => AnyOperand::from(value),
                Value::Number(value) => (*value).into(),
                _ => return invalid("__setitem__", "a tensor or a scalar is written".to_owned()),
            };
            return match index {
                Value::List(items) => x.set(items, value),
                one => x.set(std::slice::from_ref(one), value),
            };
        }
        _ => {}
    }
    let mut found = operation(name);
    let has_form = |op: &NamedOp| {
        op.forms.in_place != InPlace::Absent || unary_row(op.name).is_some() || binary_row(op.name).is_some()
    };
    if !found.as_ref().is_ok_and(|&op| has_form(op)) {
        // An operation that differs in place has a row with the `_`: `normal_`.
        found = operation(&format!("{name}_")).or(found);
    }
    let named = found?;
    let op = named.name;
    let (unary, binary) = (unary_row(op), binary_row(op));
    if let Some(row) = unary
        && args.positional.is_empty()
        && args.named.is_empty()
    {
        return x.apply_in_place(row).map(|_| ());
    }
    if let Some(row) = binary
        && let Some(other) = only_operand(&args.positional, args)
    {
        return x.combine_in_place(row, &other).map(|_| ());
    }
    if !has_form(named) {
        return invalid(op, "there is no form of it in place".to_owned());
    }
    let mut all = Args { positional: vec![Value::Array(x.clone())], named: args.named.clone() };
    all.positional.extend_from_slice(&args.positional);
    let result = call(op, &all)?.tensor()?;
    drop(all);
    if named.forms.in_place == InPlace::View {
        *x = result;
        return Ok(());
    }
    x.overwrite(op, &result).map(|_| ())
}

/// Calls an operation by PyTorch's name and writes its results into existing tensors (`out=`), which must have their shapes. Their
/// dtypes must be those of the results, or ones they can be cast to where PyTorch casts (arithmetic, `cat`, `std`, …); `sum`, `prod`,
/// `cumsum` and `cumprod` are computed in the output's dtype.
///
/// # Errors
/// If there is no such operation, an argument has a wrong type, the operation fails, or a result does not fit. Nothing is written
/// then.
///
/// ```
/// use castiron::any::{Args, call_into};
/// use castiron::{AnyTensor, DType, tensor};
/// let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
/// let mut out = AnyTensor::zeros(&[2], DType::F64)?;
/// call_into("sum", &Args::new().arg(&x).named("dim", 0_i64), &mut [&mut out])?;
/// assert_eq!(out.to_string(), "tensor([4., 6.], dtype=torch.float64)");
/// assert!(call_into("amax", &Args::new().arg(&x).named("dim", 0_i64), &mut [&mut out]).is_err()); // int64
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn call_into(name: &str, args: &Args, outs: &mut [&mut AnyTensor]) -> Result<()> {
    let named = operation(name)?;
    let op = named.name;
    args.expect_shallow(op)?;
    if let ([Value::Array(x), rest @ ..], [out]) = (&args.positional[..], &mut *outs) {
        if let (Some(row), [], true) = (unary_row(op), rest, args.named.is_empty()) {
            return x.apply_into(row, out);
        }
        if let (Some(row), Some(other)) = (binary_row(op), only_operand(rest, args)) {
            return x.combine_into(row, &other, out);
        }
    }
    let rule = output(named, args);
    let computes = match (rule, &args.positional[..], &*outs) {
        _ if args.named.iter().any(|(name, _)| name == "dtype") => None,
        (Output::ComputesInexact, [Value::Array(x), ..], _) if x.dtype.category() <= Category::Integral => None,
        (Output::Computes | Output::ComputesInexact, _, [out]) => Some(args.clone().named("dtype", out.dtype)),
        _ => None,
    };
    let results = match call(name, computes.as_ref().unwrap_or(args))? {
        Value::Array(result) => vec![result],
        Value::List(results) => results.into_iter().map(Value::tensor).collect::<Result<_>>()?,
        _ => return invalid(op, "its result is no tensor".to_owned()),
    };
    if results.len() != outs.len() {
        return invalid(op, format!("{} results can't be written to {} tensors", results.len(), outs.len()));
    }
    for (result, out) in results.iter().zip(&*outs) {
        let fits = match rule {
            Output::Exact => result.dtype == out.dtype,
            Output::AsReal => {
                let of_complex = matches!(args.positional.first(), Some(Value::Array(x)) if x.dtype.is_complex());
                result.dtype.can_cast(out.dtype) && (of_complex || !out.dtype.is_complex())
            }
            Output::Truth => matches!(out.dtype, DType::Bool | DType::U8),
            _ => result.dtype.can_cast(out.dtype),
        };
        if !fits {
            return Err(Error::NotCastable { op, result: result.dtype, output: out.dtype });
        }
        same_device(op, result, out)?;
        check_shape(op, &result.sizes, &out.sizes)?;
    }
    // Allocate first, so that nothing is written if memory runs out.
    outs.iter_mut().try_for_each(|out| out.make_unique())?;
    for (result, out) in results.iter().zip(outs) {
        out.copy_from(result)?;
    }
    Ok(())
}
