//! Operations of one operand and parameters by name, with PyTorch's defaults.
//! Uses `elementwise::op_table`, `elementwise::parametric`.

use super::named;
use crate::any::call::{Bound, NamedOp, Value};
use crate::any::elementwise::op_table::unary;
use crate::any::elementwise::parametric::{Row, rows as tuned};
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result};

const ABSENT: Option<ScalarValue> = Some(ScalarValue::Float(0.0));

fn one(args: &Bound<'_>, row: &Row, name: &str, default: f64) -> Result<Value> {
    let value = args.scalar_or(name, ScalarValue::Float(default))?;
    Ok(row.of(args.tensor("input")?, [Some(value), ABSENT, ABSENT])?.into())
}

fn two(args: &Bound<'_>, row: &Row, names: [&str; 2], defaults: [f64; 2]) -> Result<Value> {
    let [a, b] = [0, 1].map(|at| args.scalar_or(names[at], ScalarValue::Float(defaults[at])));
    Ok(row.of(args.tensor("input")?, [Some(a?), Some(b?), ABSENT])?.into())
}

fn optional(args: &Bound<'_>, name: &str) -> Result<Option<ScalarValue>> {
    Ok(args.float_or_none(name)?.map(ScalarValue::Float))
}

fn polygamma(args: &Bound<'_>) -> Result<Value> {
    let n = ScalarValue::Int(args.int("n")?.into());
    Ok(tuned::polygamma.of(args.tensor("input")?, [Some(n), ABSENT, ABSENT])?.into())
}

fn mvlgamma(args: &Bound<'_>) -> Result<Value> {
    let p = ScalarValue::Int(args.int("p")?.into());
    Ok(tuned::mvlgamma.of(args.tensor("input")?, [Some(p), ABSENT, ABSENT])?.into())
}

fn prelu(args: &Bound<'_>) -> Result<Value> {
    Ok(args.tensor("input")?.prelu(args.tensor("weight")?)?.into())
}

fn logit(args: &Bound<'_>) -> Result<Value> {
    Ok(tuned::logit.of(args.tensor("input")?, [optional(args, "eps")?, ABSENT, ABSENT])?.into())
}

pub(super) const OPS: &[NamedOp] = named! {
    "nn.functional.elu"("input", "alpha", "inplace") "floats" { in_place(Elements) } => |args| one(args, tuned::elu, "alpha", 1.0);
    "nn.functional.celu"("input", "alpha", "inplace") "floats" { in_place(Elements) } => |args| one(args, tuned::celu, "alpha", 1.0);
    "nn.functional.softplus"("input", "beta", "threshold") "floats" => |args| {
        two(args, tuned::softplus, ["beta", "threshold"], [1.0, 20.0])
    };
    "nn.functional.softshrink"("input", "lambd") "floats" => |args| one(args, tuned::softshrink, "lambd", 0.5);
    "nn.functional.hardshrink"("input", "lambd") "floats" => |args| one(args, tuned::hardshrink, "lambd", 0.5);
    "nn.functional.hardtanh"("input", "min_val", "max_val", "inplace") "integers and floats" { in_place(Elements) } => |args| {
        two(args, tuned::hardtanh, ["min_val", "max_val"], [-1.0, 1.0])
    };
    "nn.functional.leaky_relu"("input", "negative_slope", "inplace") "floats" { in_place(Elements) } => |args| {
        one(args, tuned::leaky_relu, "negative_slope", 0.01)
    };
    "nn.functional.threshold"("input", "threshold", "value", "inplace") "integers and floats" { in_place(Elements) } => |args| {
        args.value("threshold")?;
        args.value("value")?;
        two(args, tuned::threshold, ["threshold", "value"], [0.0, 0.0])
    };
    "nn.functional.relu"("input", "inplace") "integers and floats" { in_place(Elements) } => |args| {
        Ok(args.tensor("input")?.apply(unary::relu)?.into())
    };
    "nn.functional.relu6"("input", "inplace") "integers and floats" => |args| {
        Ok(args.tensor("input")?.apply(unary::relu6)?.into())
    };
    "nn.functional.selu"("input", "inplace") "floats" { in_place(Elements) } => |args| Ok(args.tensor("input")?.apply(unary::selu)?.into());
    "nn.functional.silu"("input", "inplace") "floats and complex" => |args| {
        Ok(args.tensor("input")?.apply(unary::silu)?.into())
    };
    "nn.functional.mish"("input", "inplace") "floats" => |args| Ok(args.tensor("input")?.apply(unary::mish)?.into());
    "nn.functional.hardsigmoid"("input", "inplace") "floats" => |args| {
        Ok(args.tensor("input")?.apply(unary::hardsigmoid)?.into())
    };
    "nn.functional.hardswish"("input", "inplace") "floats" => |args| {
        Ok(args.tensor("input")?.apply(unary::hardswish)?.into())
    };
    "prelu"("input", "weight") "floats" { aliases(&["nn.functional.prelu"]) } => prelu;
    "logit"("input", "eps") "bool, integers and floats" { in_place(Elements) aliases(&["special.logit"]) } => logit;
    "nan_to_num"("input", "nan", "posinf", "neginf") "all computing dtypes" { in_place(Elements) } => |args| {
        let nan = ScalarValue::Float(args.float_or("nan", 0.0)?);
        let given = [Some(nan), optional(args, "posinf")?, optional(args, "neginf")?];
        Ok(tuned::nan_to_num.of(args.tensor("input")?, given)?.into())
    };
    "round"("input", "decimals") "integers and floats" { in_place(Elements) } => |args| match args.int_or_none("decimals")? {
        None => Ok(args.tensor("input")?.apply(unary::round)?.into()),
        Some(decimals) => {
            let given = [Some(ScalarValue::Int(decimals.into())), ABSENT, ABSENT];
            Ok(tuned::round_decimals.of(args.tensor("input")?, given)?.into())
        }
    };
    "nn.functional.gelu"("input", "approximate") "floats" => |args| {
        let row = match args.str_or("approximate", "none")? {
            "none" => unary::gelu,
            "tanh" => unary::gelu_tanh,
            other => {
                let reason = format!("`approximate` is `none` or `tanh`, got {other:?}");
                return Err(Error::InvalidArgument { op: "gelu", reason });
            }
        };
        Ok(args.tensor("input")?.apply(row)?.into())
    };
    "polygamma"("n", "input") "bool, integers and floats" { in_place(Elements) aliases(&["special.polygamma"]) } => polygamma;
    "mvlgamma"("input", "p") "bool, integers and floats" { in_place(Elements) aliases(&["special.multigammaln"]) } => mvlgamma;
};
