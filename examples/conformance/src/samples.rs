//! `opinfo_samples.json`: PyTorch's own test samples, called by name.

use crate::json::{sizes, tensor, value};
use crate::report::{Outcome, Table};
use crate::{tokens, typed};
use castiron::any::{Args, Value, call, ops};
use castiron::{DType, ScalarValue};
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashSet};

/// Compares a result with PyTorch's; its values only if they are `determined`.
fn compare(got: &Value, expected: &Json, row: &Json, determined: bool) -> Result<(), String> {
    match (got, expected) {
        (Value::Array(got), Json::Object(fields)) if fields.contains_key("t") => {
            let wanted = tensor(expected)?;
            let (is, should) = ((got.dtype(), got.shape()), (wanted.dtype(), wanted.shape()));
            if is != should {
                return Err(format!("a tensor of {is:?}, expected {should:?}"));
            }
            if !determined || expected["v"].is_null() {
                return Ok(());
            }
            match &row["tol"] {
                Json::Array(tolerance) => {
                    let of = |at: usize| tolerance[at].as_f64().unwrap_or(0.0);
                    tokens::close(got, &wanted, of(0), of(1))
                }
                _ => tokens::same(got, &wanted),
            }
        }
        (Value::List(got), Json::Array(expected)) => {
            if got.len() != expected.len() {
                return Err(format!("{} results, expected {}", got.len(), expected.len()));
            }
            let loose: Vec<usize> = row.get("loose_outputs").map(sizes).unwrap_or_default();
            let mut all = got.iter().zip(expected).enumerate();
            all.try_for_each(|(at, (got, expected))| compare(got, expected, row, determined && !loose.contains(&at)))
        }
        (Value::Number(got), expected) => match value(expected)? {
            Value::Number(wanted) if *got == wanted => Ok(()),
            Value::Number(ScalarValue::Float(wanted)) => match got {
                ScalarValue::Float(got) if got.is_nan() && wanted.is_nan() => Ok(()),
                got => Err(format!("{got}, expected {wanted}")),
            },
            wanted => Err(format!("{got}, expected {wanted:?}")),
        },
        (got, expected) => Err(format!("{got:?}, expected {expected}")),
    }
}

fn arguments(row: &Json) -> Result<Args, String> {
    let mut args = Args::new();
    for argument in row["args"].as_array().ok_or("no arguments")? {
        args = args.arg(value(argument)?);
    }
    for (name, argument) in row["kwargs"].as_object().ok_or("no named arguments")? {
        args = args.named(name, value(argument)?);
    }
    Ok(args)
}

/// Compares the result of `Tensor` for the row with that of `AnyTensor`; nothing if the table of typed calls lacks it.
fn by_types(row: &Json, name: &str, any: &castiron::Result<Value>) -> Result<Option<()>, String> {
    if !typed::NAMES.contains(&name) {
        return Ok(None);
    }
    let args: Vec<Value> = row["args"].as_array().ok_or("no arguments")?.iter().map(value).collect::<Result<_, _>>()?;
    let named = row["kwargs"].as_object().ok_or("no named arguments")?.iter();
    let named: BTreeMap<String, Value> =
        named.map(|(name, argument)| Ok::<_, String>((name.clone(), value(argument)?))).collect::<Result<_, _>>()?;
    let Some(given) = typed::run(name, &typed::Call { args: &args, named: &named }) else { return Ok(None) };
    typed::agree(any, &given, row["loose"] != true).map(Some)
}

fn sample(row: &Json, name: &str, both: &mut BTreeMap<String, usize>) -> Outcome {
    let args = match arguments(row) {
        Ok(args) => args,
        Err(error) => return Outcome::Differs(error),
    };
    let result = call(name, &args);
    match by_types(row, name, &result) {
        Ok(Some(())) => *both.entry(name.to_owned()).or_default() += 1,
        Ok(None) => {}
        Err(error) => return Outcome::Differs(error),
    }
    match result {
        Err(error) => Outcome::Differs(format!("refused: {error}")),
        Ok(result) => match compare(&result, &row["result"], row, row["loose"] != true) {
            Ok(()) => Outcome::Agrees,
            Err(_) if matches!(name, "any" | "all") && row["dtype"] == "u8" => {
                Outcome::Aside("any and all of uint8 give bool")
            }
            // A more accurate implementation may differ from PyTorch's low-precision result.
            Err(_) if row["drift"] == true => Outcome::Aside("PyTorch's own result is not within its tolerance"),
            Err(error) => Outcome::Differs(error),
        },
    }
}

/// Whether PyTorch may lack kernels for this dtype that it has for others of the category.
fn may_lack(dtype: Option<DType>) -> bool {
    matches!(dtype, Some(DType::F16 | DType::BF16 | DType::C32))
}

fn error(row: &Json, name: &str) -> Outcome {
    let args = match arguments(row) {
        Ok(args) => args,
        Err(error) => return Outcome::Differs(error),
    };
    match call(name, &args) {
        Err(_) => Outcome::Agrees,
        Ok(_) if row["class"] == "NotImplementedError" && may_lack(row["dtype"].as_str().and_then(tokens::dtype)) => {
            Outcome::Beyond
        }
        Ok(_) => Outcome::Differs(format!("PyTorch refuses it: {}", row["error"])),
    }
}

pub fn all(text: &str, table: &mut Table) -> Result<(), String> {
    let json: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let known: HashSet<&str> = ops().map(|op| op.name).collect();
    let has = |name: &str| known.contains(name) || castiron::any::alias(name).is_some();
    let (mut cells, mut covered) = (HashSet::new(), HashSet::new());
    let mut both = BTreeMap::new();
    for (part, is_error) in [("samples", false), ("errors", true)] {
        for row in json[part].as_array().map_or(&[][..], |rows| rows) {
            let op = row["op"].as_str().unwrap_or("");
            if !is_error {
                cells.insert((op, row["dtype"].as_str()));
            }
            let text = || {
                let text = row.to_string();
                text.chars().take(400).collect()
            };
            table.row(op, text, || {
                if !has(op) {
                    return Outcome::Unsupported(op.to_owned());
                }
                if is_error { error(row, op) } else { sample(row, op, &mut both) }
            });
            if has(op) && !is_error {
                covered.insert((op, row["dtype"].as_str()));
            }
        }
    }
    table.note(format!(
        "{} of {} cells (operation, dtype) are of operations that castiron has",
        covered.len(),
        cells.len()
    ));
    table.note(format!(
        "{} rows of {} of {} operations in the table of typed calls are the same by `Tensor`",
        both.values().sum::<usize>(),
        both.len(),
        typed::NAMES.len()
    ));
    let never: Vec<&str> = typed::NAMES.iter().copied().filter(|name| !both.contains_key(*name)).collect();
    table.note(format!("typed calls that no row is written for: {never:?}"));
    Ok(())
}
