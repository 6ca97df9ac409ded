//! Reads values in the format of the samples.

use crate::tokens;
use castiron::any::Value;
use castiron::{AnyTensor, Complex, ScalarValue};
use serde_json::Value as Json;

fn float(hex: &str) -> Option<f64> {
    u64::from_str_radix(hex, 16).ok().map(f64::from_bits)
}

/// A list of sizes or strides.
pub fn sizes(json: &Json) -> Vec<usize> {
    json.as_array()
        .map(|items| items.iter().map(|item| item.as_u64().unwrap_or(0) as usize).collect())
        .unwrap_or_default()
}

/// A tensor, with the strides given.
pub fn tensor(json: &Json) -> Result<AnyTensor, String> {
    let dtype = json["t"].as_str().and_then(tokens::dtype).ok_or("no such dtype")?;
    let shape = sizes(&json["s"]);
    let Some(elements) = json["v"].as_str() else {
        return AnyTensor::zeros(&shape, dtype).map_err(|error| error.to_string());
    };
    let row_major = tokens::tensor(dtype, &shape, elements)?;
    let Some(strides) = json.get("st").map(sizes) else { return Ok(row_major) };
    let reach = if shape.contains(&0) {
        0
    } else {
        1 + shape.iter().zip(&strides).map(|(size, stride)| (size - 1) * stride).sum::<usize>()
    };
    let width = dtype.itemsize();
    let (bytes, mut storage) = (row_major.to_bytes().map_err(|error| error.to_string())?, vec![0; reach * width]);
    for (at, element) in bytes.chunks(width).enumerate() {
        let (mut rest, mut place) = (at, 0);
        for (size, stride) in shape.iter().zip(&strides).rev() {
            place += rest % size * stride;
            rest /= size;
        }
        storage[place * width..(place + 1) * width].copy_from_slice(element);
    }
    let storage = AnyTensor::from_bytes(&storage, dtype, &[reach]).map_err(|error| error.to_string())?;
    let storage = tokens::placed(storage)?;
    storage.as_strided(&shape, &strides, Some(0)).map_err(|error| error.to_string())
}

/// An argument or a result.
pub fn value(json: &Json) -> Result<Value, String> {
    Ok(match json {
        Json::Null => Value::Absent,
        // The name of a device stands for the device where tensors are made.
        Json::String(text) if text == "cpu" => Value::Str(castiron::device::default_device().to_string()),
        Json::String(text) => Value::Str(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(value).collect::<Result<_, _>>()?),
        Json::Object(fields) if fields.contains_key("t") => tensor(json)?.into(),
        Json::Object(fields) => {
            let (kind, of) = fields.iter().next().ok_or("an empty object")?;
            let wrong = || format!("{kind}: {of}");
            match kind.as_str() {
                "int" => {
                    let int = of.as_i64().map(i128::from).or_else(|| of.as_u64().map(i128::from));
                    let int = int.or_else(|| of.as_str().and_then(|text| text.parse().ok()));
                    Value::Number(ScalarValue::Int(int.ok_or_else(wrong)?))
                }
                "float" => Value::Number(ScalarValue::Float(of.as_str().and_then(float).ok_or_else(wrong)?)),
                "complex" => {
                    let part = |at: usize| of[at].as_str().and_then(float).ok_or_else(wrong);
                    Value::Number(ScalarValue::Complex(Complex::new(part(0)?, part(1)?)))
                }
                "bool" => Value::Number(ScalarValue::Bool(of.as_bool().ok_or_else(wrong)?)),
                "dtype" => Value::Type(of.as_str().and_then(tokens::dtype).ok_or_else(wrong)?),
                "slice" => {
                    let part = |at: usize| match &of[at] {
                        Json::Null => None,
                        Json::Object(fields) => fields.get("int").and_then(Json::as_i64),
                        other => other.as_i64(),
                    };
                    Value::Slice(part(0), part(1), part(2))
                }
                "ellipsis" => Value::Rest,
                _ => return Err(wrong()),
            }
        }
        other => return Err(other.to_string()),
    })
}
