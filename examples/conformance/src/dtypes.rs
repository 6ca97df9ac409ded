//! Tables of dtypes: the result of each operation for each dtype, pair of dtypes and kind of operand, or that it is refused.

use crate::calls::{self, operand};
use crate::report::{Outcome, Table};
use crate::tokens;
use castiron::any::{Args, Value, call};
use castiron::{AnyTensor, DType, ScalarValue};
use serde_json::Value as Json;
use std::collections::HashMap;

const MOVES: &str = "shell dtypes move, whichever kernels PyTorch has";
const SHELLS: &str = "shell dtypes (u16, u32, u64, float8, float4) have no arithmetic";

fn is_shell(code: &str) -> bool {
    tokens::dtype(code).is_some_and(DType::is_shell)
}

/// Whether PyTorch lacks some kernels for this dtype that it has for wider ones of the category.
fn is_small(code: &str) -> bool {
    matches!(code, "f16" | "bf16" | "c32")
}

/// Compares the result of a call with the expected dtypes, or its error with the expected category.
fn judge(result: castiron::Result<Value>, expected: &str, category: Option<&str>, codes: &[&str]) -> Outcome {
    let shell = codes.iter().any(|code| is_shell(code));
    let got = match result {
        Err(error) => {
            let text = error.to_string();
            return match category {
                Some(_) => Outcome::Agrees,
                None if text.contains("there is no operation") => Outcome::Unsupported(text),
                None if shell => Outcome::Aside(SHELLS),
                None => Outcome::Differs(format!("refused: {error}; expected {expected}")),
            };
        }
        Ok(value) => value,
    };
    if let Some(category) = category {
        return match category {
            "NOTIMPL" if codes.iter().any(|code| is_small(code)) => Outcome::Beyond,
            "NOTIMPL" | "OTHER" if shell => Outcome::Aside(MOVES),
            _ => Outcome::Differs(format!("PyTorch refuses it ({category})")),
        };
    }
    let dtypes = |value: &Value| match value {
        Value::Array(tensor) => vec![Some(tensor.dtype())],
        Value::List(values) => values
            .iter()
            .map(|value| match value {
                Value::Array(tensor) => Some(tensor.dtype()),
                _ => None,
            })
            .collect(),
        _ => vec![None],
    };
    if let Some(kind) = expected.strip_prefix("py.") {
        let is = match &got {
            Value::Number(ScalarValue::Bool(_)) => "bool",
            Value::Number(ScalarValue::Int(_)) => "int",
            Value::Number(ScalarValue::Float(_)) => "float",
            Value::Number(ScalarValue::Complex(_)) => "complex",
            Value::Str(_) => "str",
            _ => "another value",
        };
        return if is == kind { Outcome::Agrees } else { Outcome::Differs(format!("gives {is}, expected {kind}")) };
    }
    let wanted: Vec<Option<DType>> = expected.split('/').map(tokens::dtype).collect();
    let got = dtypes(&got);
    if got == wanted { Outcome::Agrees } else { Outcome::Differs(format!("gives {got:?}, expected {expected}")) }
}

/// The lines of a table, and the categories of its errors.
struct Csv<'a> {
    categories: HashMap<&'a str, &'a str>,
    rows: Vec<Vec<&'a str>>,
}

fn csv(text: &str) -> Csv<'_> {
    let mut parsed = Csv { categories: HashMap::new(), rows: Vec::new() };
    let mut header = true;
    for line in text.lines() {
        if let Some(error) = line.strip_prefix("#ERR\t") {
            let fields: Vec<&str> = error.split('\t').collect();
            if let [code, _, category, ..] = fields[..] {
                parsed.categories.insert(code, category);
            }
        } else if line.starts_with('#') {
        } else if header {
            header = false;
        } else {
            parsed.rows.push(line.split(',').collect());
        }
    }
    parsed
}

pub fn binary(text: &str, table: &mut Table) -> Result<(), String> {
    let csv = csv(text);
    for row in &csv.rows {
        let [op, kinds, lhs, rhs, expected] = row[..] else { return Err(format!("a row has another form: {row:?}")) };
        table.row(
            op,
            || row.join(","),
            || {
                let (left, right) = kinds.split_at(1);
                let (Some(a), Some(b)) = (operand(left, lhs), operand(right, rhs)) else {
                    return Outcome::Differs("no such operand".to_owned());
                };
                if op == "isin" && lhs == "c32" && !csv.categories.contains_key(expected) {
                    return Outcome::Unsupported("isin of complex32, which PyTorch forgets to refuse".to_owned());
                }
                let Some(result) = calls::binary(op, &a, &b) else { return Outcome::Unsupported(op.to_owned()) };
                judge(result, expected, csv.categories.get(expected).copied(), &[lhs, rhs])
            },
        );
    }
    Ok(())
}

pub fn unary(text: &str, table: &mut Table) -> Result<(), String> {
    let csv = csv(text);
    for row in &csv.rows {
        let [op, code, expected] = row[..] else { return Err(format!("a row has another form: {row:?}")) };
        let (name, default) = op.split_once("@default=").map_or((op, None), |(name, default)| (name, Some(default)));
        table.row(
            name,
            || row.join(","),
            || {
                let _guard = match default.map(|code| tokens::dtype(code).map(castiron::dtype::scoped_default_dtype)) {
                    Some(Some(Ok(guard))) => Some(guard),
                    None => None,
                    _ => return Outcome::Differs("no such default dtype".to_owned()),
                };
                let Some(x) = tokens::dtype(code).and_then(|dtype| calls::ones(dtype, &[2]).ok()) else {
                    return Outcome::Differs("no such dtype".to_owned());
                };
                let asked = name.split_once("_dtype=").map_or("", |(_, dtype)| dtype);
                let Some(result) = calls::unary(name, &x) else { return Outcome::Unsupported(name.to_owned()) };
                let called = name.split(['_', '@']).next().unwrap_or(name);
                if name == "view_bool"
                    && result.as_ref().is_err_and(|error| error.to_string().contains("a bool is a byte of 0 or 1"))
                {
                    return Outcome::Aside("a bool is 0 or 1, also where bytes are seen as one");
                }
                if matches!(called, "any" | "all") && code == "u8" {
                    return Outcome::Aside("any and all give bool for u8, too");
                }
                judge(result, expected, csv.categories.get(expected).copied(), &[code, default.unwrap_or(""), asked])
            },
        );
    }
    Ok(())
}

pub fn inplace(text: &str, table: &mut Table) -> Result<(), String> {
    let csv = csv(text);
    for row in &csv.rows {
        let [form, op, kinds, lhs, rhs, expected] = row[..] else {
            return Err(format!("a row has another form: {row:?}"));
        };
        let subject = format!("{form} {op}");
        table.row(
            &subject,
            || row.join(","),
            || {
                let category = csv.categories.get(expected).copied();
                let unsupported = || Outcome::Unsupported(format!("{form} {op}"));
                if form == "can_cast" {
                    let (Some(from), Some(to)) = (tokens::dtype(rhs), tokens::dtype(lhs)) else { return unsupported() };
                    return match (from.can_cast(to), expected) {
                        (true, "ok" | "yes" | "True" | "true") | (false, "no") => Outcome::Agrees,
                        (got, _) => Outcome::Differs(format!("{got}, expected {expected}")),
                    };
                }
                let (left, right) = if kinds.len() == 2 { kinds.split_at(1) } else { (kinds, kinds) };
                let Some(Value::Array(mut out)) = operand(left, lhs) else { return unsupported() };
                let result = match form {
                    "ip" => operand(right, rhs).and_then(|other| calls::in_place(op, &mut out, &other)),
                    "self" => calls::on_itself(op, &mut out),
                    "out" => match operand("T", rhs) {
                        Some(Value::Array(x)) => calls::into(op, &x, out.dtype()),
                        _ => None,
                    },
                    _ => None,
                };
                let Some(result) = result else { return unsupported() };
                let shell = is_shell(lhs) || is_shell(rhs);
                match (result, category, expected) {
                    (Ok(()), None, "ok") => Outcome::Agrees,
                    (Err(_), Some(_), _) => Outcome::Agrees,
                    (Err(_), None, _) if shell => Outcome::Aside(SHELLS),
                    (Err(error), None, _) => Outcome::Differs(format!("refused: {error}; expected {expected}")),
                    (Ok(()), Some("NOTIMPL"), _) if is_small(lhs) || is_small(rhs) => Outcome::Beyond,
                    (Ok(()), Some("NOTIMPL"), _) if shell => Outcome::Aside(MOVES),
                    (Ok(()), _, _) => Outcome::Differs(format!("allowed; expected {expected} {category:?}")),
                }
            },
        );
    }
    Ok(())
}

pub fn promotion(text: &str, table: &mut Table) -> Result<(), String> {
    let json: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let category = |code: &str| json["errors"][code][1].as_str();
    let fields = |row: &Json| -> Vec<String> {
        let text = |field: &Json| field.as_str().map_or_else(|| field.to_string(), str::to_owned);
        row.as_array().map(|fields| fields.iter().map(text).collect()).unwrap_or_default()
    };
    let rows = |name: &str| json[name].as_array().map_or(&[][..], |rows| rows);
    for row in rows("rows").iter().chain(rows("default_dtype_changes")) {
        let all = fields(row);
        let (default, of) = if all.len() == 7 { (Some(&all[0]), &all[1..]) } else { (None, &all[..]) };
        let [lk, lhs, rk, rhs, result_type, sum] = of else { return Err(format!("a row has another form: {row}")) };
        let _guard = default.and_then(|code| tokens::dtype(code)).map(castiron::dtype::scoped_default_dtype);
        let (Some(a), Some(b)) = (operand(lk, lhs), operand(rk, rhs)) else {
            return Err(format!("no such operand: {row}"));
        };
        table.row(
            "result_type",
            || row.to_string(),
            || {
                let args = Args::new().arg(a.clone()).arg(b.clone());
                judge(call("result_type", &args).map(of_dtype), result_type, category(result_type), &[lhs, rhs])
            },
        );
        table.row(
            "add",
            || row.to_string(),
            || {
                let args = Args::new().arg(a.clone()).arg(b.clone());
                judge(call("add", &args), sum, category(sum), &[lhs, rhs])
            },
        );
    }
    for row in rows("promote_types") {
        let all = fields(row);
        let [a, b, expected] = &all[..] else { return Err(format!("a row has another form: {row}")) };
        table.row(
            "promote_types",
            || row.to_string(),
            || {
                let (Some(x), Some(y)) = (tokens::dtype(a), tokens::dtype(b)) else {
                    return Outcome::Differs("no such dtype".to_owned());
                };
                let args = Args::new().arg(x).arg(y);
                judge(call("promote_types", &args).map(of_dtype), expected, category(expected), &[a, b])
            },
        );
    }
    for row in rows("can_cast") {
        let all = fields(row);
        let [from, to, expected] = &all[..] else { return Err(format!("a row has another form: {row}")) };
        table.row(
            "can_cast",
            || row.to_string(),
            || {
                let (Some(x), Some(y)) = (tokens::dtype(from), tokens::dtype(to)) else {
                    return Outcome::Differs("no such dtype".to_owned());
                };
                if x.can_cast(y).to_string() == *expected {
                    Outcome::Agrees
                } else {
                    Outcome::Differs(expected.clone())
                }
            },
        );
    }
    Ok(())
}

/// Turns a dtype into a tensor of it, since results are compared as tensors.
fn of_dtype(value: Value) -> Value {
    match value {
        Value::Type(dtype) => AnyTensor::zeros(&[], dtype).map_or(Value::Absent, Value::Array),
        other => other,
    }
}
