//! `views.json`: sizes, strides and offsets of views, and which are refused.

use crate::report::{Outcome, Table};
use crate::tokens;
use castiron::any::{Args, Value, call};
use castiron::{AnyTensor, DType};
use serde_json::Value as Json;

/// An argument as JSON writes it.
fn argument(json: &Json) -> Value {
    match json {
        Json::Null => Value::Absent,
        Json::Bool(value) => (*value).into(),
        Json::Number(number) => match number.as_i64() {
            Some(int) => int.into(),
            None => number.as_f64().unwrap_or(f64::NAN).into(),
        },
        Json::String(text) => match tokens::dtype(text) {
            Some(dtype) => dtype.into(),
            None => Value::Str(text.clone()),
        },
        Json::Array(items) => Value::List(items.iter().map(argument).collect()),
        Json::Object(_) => Value::Absent,
    }
}

/// Python's index text: `1:3, None, ..., -1, [0, 1]`.
fn index(text: &str) -> Option<Value> {
    let mut depth = 0;
    let outside = |letter: char| {
        depth += i32::from(letter == '[') - i32::from(letter == ']');
        letter == ',' && depth == 0
    };
    let items: Option<_> = text
        .split(outside)
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(|item| match item {
            "None" => Some(Value::Absent),
            "..." => Some(Value::Rest),
            "True" | "False" => Some((item == "True").into()),
            _ if item.starts_with('[') => index(item.strip_prefix('[')?.strip_suffix(']')?),
            _ if item.contains(':') => {
                let mut parts = item.split(':').map(|part| {
                    let part = part.trim();
                    if part.is_empty() { Some(None) } else { part.parse::<i64>().ok().map(Some) }
                });
                let mut next = || parts.next().unwrap_or(Some(None));
                Some(Value::Slice(next()?, next()?, next()?))
            }
            _ => item.parse::<i64>().ok().map(Value::from),
        })
        .collect();
    items.map(Value::List)
}

fn numbers(json: &Json) -> Vec<usize> {
    let number = |value: &Json| value.as_u64().and_then(|value| usize::try_from(value).ok()).unwrap_or(0);
    json.as_array().map(|items| items.iter().map(number).collect()).unwrap_or_default()
}

/// A tensor of these sizes and strides, over a storage large enough for it.
fn tensor(dtype: DType, sizes: &[usize], strides: &[usize], offset: usize, least: usize) -> Result<AnyTensor, String> {
    let reach = if sizes.contains(&0) {
        0
    } else {
        1 + sizes.iter().zip(strides).map(|(size, stride)| (size - 1) * stride).sum::<usize>()
    };
    let storage = AnyTensor::zeros(&[(offset + reach).max(least)], dtype).map_err(|error| error.to_string())?;
    storage.as_strided(sizes, strides, Some(offset)).map_err(|error| error.to_string())
}

fn row(fields: &[Json]) -> Outcome {
    let [code, sizes, strides, offset, op, args, expected] = fields else {
        return Outcome::Differs("the row has another form".to_owned());
    };
    let (op, args) = (op.as_str().unwrap_or(""), args.as_array().cloned().unwrap_or_default());
    let Some(dtype) = code.as_str().and_then(tokens::dtype) else {
        return Outcome::Differs("no such dtype".to_owned());
    };
    // Inputs of `as_strided` have a storage of 24 elements, or of 30 with an offset.
    let offset = offset.as_u64().unwrap_or(0) as usize;
    let least = match (op, offset) {
        ("as_strided", 0) => 24,
        ("as_strided", _) => 30,
        _ => 0,
    };
    let input = match tensor(dtype, &numbers(sizes), &numbers(strides), offset, least) {
        Ok(input) => input,
        Err(error) => return Outcome::Differs(error),
    };
    // Operations on the conjugate.
    let (op, seen) = match op.strip_prefix("conj.") {
        Some(op) => match input.conj() {
            Ok(conjugate) => (op, conjugate),
            Err(error) => return Outcome::Differs(error.to_string()),
        },
        None => (op, input.clone()),
    };
    let mut called = Args::new().arg(seen);
    let name = match op {
        "view_dtype_f32" => {
            called = called.arg(DType::F32);
            "view"
        }
        "slice0" | "slice_last" => {
            let dim = if op == "slice0" { 0_i64 } else { -1 };
            for (name, value) in ["start", "end", "step"].iter().zip(&args) {
                called = called.named(name, argument(value));
            }
            called = called.named("dim", dim);
            "slice"
        }
        "index" => {
            let text = args.first().map(|text| text.as_str().map_or_else(|| text.to_string(), str::to_owned));
            let text = text.unwrap_or_default();
            let Some(index) = index(&text) else { return Outcome::Unsupported(format!("index {text}")) };
            called = called.arg(index);
            "__getitem__"
        }
        "expand_as_self2" => {
            let sizes: Vec<i64> = [2].into_iter().chain(input.shape().iter().map(|&size| size as i64)).collect();
            called = called.named("size", sizes);
            "expand"
        }
        "view" | "reshape" | "expand" | "permute" | "broadcast_to" => {
            let json = Json::Array(args.clone());
            called = called.arg(argument(&json));
            op
        }
        "view_dtype" => {
            called = args.iter().fold(called, |called, value| called.arg(argument(value)));
            "view"
        }
        _ => {
            called = args.iter().fold(called, |called, value| called.arg(argument(value)));
            op
        }
    };
    let result = match call(name, &called) {
        Err(error) if error.to_string().contains("there is no operation") => {
            return Outcome::Unsupported(name.to_owned());
        }
        result => result,
    };
    let Some(expected) = expected.as_array() else {
        return match result {
            Err(_) => Outcome::Agrees,
            Ok(_) => Outcome::Differs(format!("PyTorch refuses it ({expected})")),
        };
    };
    let tensors = match result {
        Err(error) => return Outcome::Differs(format!("refused: {error}")),
        Ok(Value::Array(tensor)) => vec![tensor],
        Ok(Value::List(values)) => values.into_iter().filter_map(|value| value.tensor().ok()).collect(),
        Ok(_) => return Outcome::Differs("no tensor".to_owned()),
    };
    if tensors.len() != expected.len() {
        return Outcome::Differs(format!("{} tensors, expected {}", tensors.len(), expected.len()));
    }
    for (got, expected) in tensors.iter().zip(expected) {
        let Some([code, sizes, strides, offset, shares]) = expected.as_array().map(|fields| &fields[..]) else {
            return Outcome::Differs("the row has another form".to_owned());
        };
        let shared = u64::from(got.shares_storage(&input) && !input.is_empty());
        let is = (Some(got.dtype()), got.shape().to_vec(), got.stride().to_vec(), got.storage_offset() as u64, shared);
        let wanted = (
            code.as_str().and_then(tokens::dtype),
            numbers(sizes),
            numbers(strides),
            offset.as_u64().unwrap_or(0),
            shares.as_u64().unwrap_or(0),
        );
        if is != wanted {
            return Outcome::Differs(format!("{is:?}, expected {wanted:?}"));
        }
    }
    Outcome::Agrees
}

pub fn all(text: &str, table: &mut Table) -> Result<(), String> {
    let json: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    for fields in json["rows"].as_array().ok_or("there are no rows")? {
        let subject = fields[4].as_str().unwrap_or("").to_owned();
        let fields = fields.as_array().map_or(&[][..], |fields| &fields[..]);
        table.row(&subject, || Json::Array(fields.to_vec()).to_string(), || row(fields));
    }
    Ok(())
}
