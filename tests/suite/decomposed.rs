//! Linear algebra and Fourier transforms by name, compared with PyTorch's tables (`linalg.json`, `fft.json`): elements within a tolerance;
//! factors that are not unique, by the product of the factors.

use crate::common::json;
use castiron::any::{Args, Value, call};
use castiron::{AnyTensor, Cpu, DType, ScalarValue, Tensor, shape};
use serde_json::Value as Json;

type Checked<T = ()> = Result<T, String>;

fn dtype(code: &str) -> DType {
    match code {
        "f32" => DType::F32,
        "f64" => DType::F64,
        "c64" => DType::C64,
        "c128" => DType::C128,
        "i64" => DType::I64,
        "i32" => DType::I32,
        "f16" => DType::F16,
        "bf16" => DType::BF16,
        "u8" => DType::U8,
        "bool" => DType::Bool,
        other => panic!("{other}"),
    }
}

fn number(json: &Json) -> f64 {
    match json {
        Json::String(text) => text.parse().unwrap(),
        other => other.as_f64().unwrap(),
    }
}

fn sizes(json: &Json) -> Vec<usize> {
    json.as_array().unwrap().iter().map(|size| size.as_u64().unwrap() as usize).collect()
}

fn tensor(json: &Json) -> castiron::Result<AnyTensor> {
    let (dtype, mut sizes) = (dtype(json["t"].as_str().unwrap()), sizes(&json["s"]));
    let elements: Vec<f64> = json["v"].as_array().unwrap().iter().map(number).collect();
    if dtype.is_complex() {
        sizes.push(2);
    }
    let signed: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
    let len = elements.len();
    let x = AnyTensor::from(Tensor::<f64, shape![_]>::from_vec_sized(elements, [len])).reshape(&signed)?;
    let x = if dtype.is_complex() { x.view_as_complex()? } else { x }.to(dtype)?;
    match json["l"].as_str() {
        Some("t") => x.transpose(-2, -1)?.contiguous()?.transpose(-2, -1),
        Some("s") => {
            let last = x.rank() as i64 - 1;
            let wide = castiron::any::cat(&[x.narrow(last, 0, 1.min(x.shape()[last as usize]))?, x.clone()], last)?;
            wide.slice(last, Some(wide.shape()[last as usize] as i64 - x.shape()[last as usize] as i64), None, 1)
        }
        _ => Ok(x),
    }
}

fn value(json: &Json) -> castiron::Result<Value> {
    Ok(match json {
        Json::Null => Value::Absent,
        Json::Bool(value) => (*value).into(),
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::List(items.iter().map(value).collect::<castiron::Result<_>>()?),
        Json::Object(fields) if fields.contains_key("t") => tensor(json)?.into(),
        Json::Object(fields) if fields.contains_key("float") => number(&json["float"]).into(),
        Json::Object(_) => dtype(json["dtype"].as_str().unwrap()).into(),
        Json::Number(number) => Value::Number(ScalarValue::Int(number.as_i64().unwrap().into())),
    })
}

/// Elements, of complex numbers both parts.
fn elements(x: &AnyTensor) -> castiron::Result<Vec<f64>> {
    let x = if x.dtype().is_complex() { x.to(DType::C128)?.view_as_real()? } else { x.to(DType::F64)? };
    Ok(x.reshape(&[x.numel() as i64])?.typed::<f64, shape![_], Cpu>()?.to_vec())
}

fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F64 | DType::C128 => 1e-8,
        DType::F16 | DType::BF16 => 1e-2,
        _ => 2e-3,
    }
}

fn close(got: &AnyTensor, wanted: &[f64]) -> Checked {
    let got_elements = elements(got).map_err(|error| error.to_string())?;
    if got_elements.len() != wanted.len() {
        return Err(format!("{} elements, expected {}", got_elements.len(), wanted.len()));
    }
    let most = wanted.iter().filter(|x| x.is_finite()).fold(1.0_f64, |most, x| most.max(x.abs()));
    for (at, (&x, &y)) in got_elements.iter().zip(wanted).enumerate() {
        let same = x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= tolerance(got.dtype()) * most;
        // Singular matrices and infinities leave what is not finite, by whichever way it was computed.
        if !same && (x.is_finite() || y.is_finite()) {
            return Err(format!("element {at} is {x}, expected {y}"));
        }
    }
    Ok(())
}

fn same(got: &AnyTensor, wanted: &Json, has_elements: bool) -> Checked {
    let expected = (dtype(wanted["t"].as_str().unwrap()), sizes(&wanted["s"]));
    if (got.dtype(), got.shape()) != (expected.0, &expected.1[..]) {
        return Err(format!("{:?} {:?}, expected {expected:?}", got.dtype(), got.shape()));
    }
    if !has_elements {
        return Ok(());
    }
    let elements: Vec<f64> = wanted["v"].as_array().unwrap().iter().map(number).collect();
    close(got, &elements)
}

/// Complex numbers in an order that does not depend on how they were found.
fn sorted(list: &[f64]) -> Vec<f64> {
    let mut pairs: Vec<[f64; 2]> = list.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
    let key = |pair: &[f64; 2]| ((pair[0] * 1e3).round() as i64, (pair[1] * 1e3).round() as i64);
    pairs.sort_by_key(key);
    pairs.concat()
}

fn spectrum(got: &AnyTensor, wanted: &Json) -> Checked {
    same(got, wanted, false)?;
    let n = got.shape().last().copied().unwrap_or(0);
    let wanted: Vec<f64> = wanted["v"].as_array().unwrap().iter().map(number).collect();
    let found = elements(got).map_err(|error| error.to_string())?;
    if n == 0 {
        return Ok(());
    }
    for (x, y) in found.chunks(2 * n).zip(wanted.chunks(2 * n)) {
        let mut left: Vec<&[f64]> = y.chunks_exact(2).collect();
        for value in x.chunks_exact(2) {
            let distance = |of: &&[f64]| (of[0] - value[0]).hypot(of[1] - value[1]);
            let nearest = (0..left.len()).min_by(|&a, &b| distance(&left[a]).total_cmp(&distance(&left[b]))).unwrap();
            let found = left.remove(nearest);
            if distance(&found) > 10.0 * tolerance(got.dtype()) {
                return Err(format!("{:?} are not the eigenvalues {:?}", sorted(x), sorted(y)));
            }
        }
    }
    Ok(())
}

fn eye(n: usize, dtype: DType) -> castiron::Result<AnyTensor> {
    AnyTensor::ones(&[n], dtype)?.diag(0)
}

/// Whether the two are alike, by elements.
fn alike(got: castiron::Result<AnyTensor>, wanted: castiron::Result<AnyTensor>, what: &str) -> Checked {
    let text = |error: castiron::Error| format!("{what}: {error}");
    let wanted = elements(&wanted.map_err(text)?).map_err(text)?;
    close(&got.map_err(text)?, &wanted).map_err(|error| format!("{what}: {error}"))
}

fn compare(kind: &str, got: &[AnyTensor], wanted: &[Json], operand: &AnyTensor) -> Checked {
    if got.len() != wanted.len() {
        return Err(format!("{} results, expected {}", got.len(), wanted.len()));
    }
    let shapes = |at: usize| same(&got[at], &wanted[at], false);
    let column = |x: &AnyTensor| x.unsqueeze(-2);
    match kind {
        "values" => got.iter().zip(wanted).try_for_each(|(got, wanted)| same(got, wanted, true)),
        "info" => {
            let last = got.len() - 1;
            (0..last).try_for_each(shapes)?;
            same(&got[last], &wanted[last], true)
        }
        "spectrum" => spectrum(&got[0], &wanted[0]),
        "eigh" => {
            same(&got[0], &wanted[0], true)?;
            shapes(1)?;
            let unit = |x: &AnyTensor| x.adjoint()?.matmul(x);
            if operand.is_empty() || elements(&got[0]).unwrap().iter().any(|x| x.is_nan()) {
                return Ok(());
            }
            let n = operand.shape()[operand.rank() - 1];
            let eye = eye(n, got[1].dtype())
                .and_then(|eye| eye.expand(&unit(&got[1])?.shape().iter().map(|&s| s as i64).collect::<Vec<_>>()));
            alike(unit(&got[1]), eye, "V^H V")?;
            alike(operand.matmul(&got[1]), column(&got[0]).and_then(|w| got[1].mul(&w)), "A V = V w")
        }
        "eig" => {
            spectrum(&got[0], &wanted[0])?;
            shapes(1)?;
            let a = operand.to(got[1].dtype());
            alike(a.and_then(|a| a.matmul(&got[1])), column(&got[0]).and_then(|w| got[1].mul(&w)), "A V = V w")
        }
        "svd" | "old_svd" => {
            (0..3).try_for_each(shapes)?;
            same(&got[1], &wanted[1], true)?;
            let k = got[1].shape()[got[1].rank() - 1];
            let u = got[0].narrow(-1, 0, k);
            let vh =
                if kind == "svd" { got[2].narrow(-2, 0, k) } else { got[2].adjoint().and_then(|v| v.narrow(-2, 0, k)) };
            let us = u.and_then(|u| u.mul(&column(&got[1])?));
            alike(us.and_then(|us| us.matmul(&vh?)), Ok(operand.clone()), "U S Vh")?;
            for (x, name) in
                [(got[0].clone(), "U"), (if kind == "svd" { got[2].adjoint().unwrap() } else { got[2].clone() }, "V")]
            {
                let product = x.adjoint().and_then(|adjoint| adjoint.matmul(&x)).map_err(|error| error.to_string())?;
                let n = x.shape()[x.rank() - 1];
                let sizes: Vec<i64> = product.shape().iter().map(|&size| size as i64).collect();
                alike(Ok(product), eye(n, x.dtype()).and_then(|eye| eye.expand(&sizes)), name)?;
            }
            Ok(())
        }
        other => panic!("{other}"),
    }
}

fn run(row: &Json) -> Checked {
    let name = row[0].as_str().unwrap();
    let make = || -> castiron::Result<(Args, Option<AnyTensor>)> {
        let (mut args, mut first) = (Args::new(), None);
        for argument in row[1].as_array().unwrap() {
            let value = value(argument)?;
            if let (None, Value::Array(tensor)) = (&first, &value) {
                first = Some(tensor.clone());
            }
            args = args.arg(value);
        }
        for (name, argument) in row[2].as_object().unwrap() {
            args = args.named(name, value(argument)?);
        }
        Ok((args, first))
    };
    let (args, first) = make().map_err(|error| format!("arguments: {error}"))?;
    let got = call(name, &args);
    let wanted = match (&row[3], got) {
        (Json::Object(_), Err(_)) => return Ok(()),
        (Json::Object(error), Ok(_)) => return Err(format!("PyTorch refuses: {}", error["err"])),
        (_, Err(error)) => return Err(format!("refused: {error}")),
        (wanted, Ok(got)) => (wanted.as_array().unwrap(), got),
    };
    let got: Vec<AnyTensor> = match wanted.1 {
        Value::List(items) => items.into_iter().map(|item| item.tensor().unwrap()).collect(),
        one => vec![one.tensor().unwrap()],
    };
    let none = AnyTensor::zeros(&[0], DType::F32).unwrap();
    compare(row[4].as_str().unwrap(), &got, wanted.0, &first.unwrap_or(none))
}

/// Every row of a table; all that differ are named.
fn table(name: &str) {
    let table = json(name);
    let rows = table["rows"].as_array().unwrap();
    assert!(!rows.is_empty());
    let differ: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let error = run(row).err()?;
            let shapes: Vec<String> =
                row[1].as_array().unwrap().iter().map(|x| format!("{}{}", x["t"], x["s"])).collect();
            Some(format!("{} {shapes:?} {}: {error}", row[0], row[2]))
        })
        .collect();
    assert!(
        differ.is_empty(),
        "{} of {} rows differ:\n{}",
        differ.len(),
        rows.len(),
        differ[..differ.len().min(300)].join("\n")
    );
}

#[test]
fn linear_algebra_gives_what_pytorch_gives() {
    table("linalg.json");
}

#[test]
fn fourier_transforms_give_what_pytorch_gives() {
    table("fft.json");
}
