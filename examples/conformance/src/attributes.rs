//! `dtypes.json`: the properties of each dtype, and the basic operations on it.

use crate::report::{Outcome, Table};
use crate::tokens;
use castiron::any::{Args, Value, call};
use castiron::{AnyTensor, Complex, DType, Generator, ScalarValue};
use serde_json::Value as Json;

fn equal<T: PartialEq + core::fmt::Debug>(got: T, expected: T) -> Outcome {
    if got == expected { Outcome::Agrees } else { Outcome::Differs(format!("{got:?}, expected {expected:?}")) }
}

/// Compares a dtype, or the absence of one.
fn of_dtype(got: Option<DType>, expected: &Json) -> Outcome {
    equal(got, expected.as_str().and_then(tokens::dtype))
}

fn limits(dtype: DType, row: &Json) -> Outcome {
    let (float, int) = (dtype.finfo(), dtype.iinfo());
    match (float, row["finfo"].get("max")) {
        (Some(info), Some(_)) => {
            let number = |name: &str| row["finfo"][name].as_f64();
            let got = [info.max, info.min, info.eps, info.smallest_normal, info.resolution, info.tiny()];
            let names = ["max", "min", "eps", "smallest_normal", "resolution", "tiny"];
            equal(got.map(Some), names.map(number))
        }
        (None, None) => match (int, row["iinfo"].get("max")) {
            (Some(info), Some(max)) => {
                equal([info.max.to_string(), info.min.to_string()], [max.to_string(), row["iinfo"]["min"].to_string()])
            }
            (None, None) => Outcome::Agrees,
            _ => Outcome::Differs("limits of integers".to_owned()),
        },
        _ => Outcome::Differs("limits of floats".to_owned()),
    }
}

/// A basic operation on two elements; `None` if castiron has no operation of this name here.
fn basic(op: &str, dtype: DType) -> Option<castiron::Result<Value>> {
    let x = AnyTensor::zeros(&[2], dtype).ok()?;
    let sized = |name: &str| call(name, &Args::new().arg(vec![2_i64]).named("dtype", dtype));
    let on = |name: &str, args: Args| call(name, &args);
    Some(match op {
        "empty" | "zeros" | "ones" => sized(op),
        "rand" => AnyTensor::rand(&[2], dtype, &mut Generator::seeded(0)).map(Value::from),
        "tensor_list" => on("tensor", Args::new().arg(vec![1_i64, 2]).named("dtype", dtype)),
        "full_2" => on("full", Args::new().arg(vec![2_i64]).arg(2_i64).named("dtype", dtype)),
        "arange" => on("arange", Args::new().arg(2_i64).named("dtype", dtype)),
        "eye" => on("eye", Args::new().arg(2_i64).named("dtype", dtype)),
        "linspace" => on("linspace", Args::new().arg(0_i64).arg(1_i64).arg(2_i64).named("dtype", dtype)),
        "item" => x.select(0, 0).and_then(|one| one.item()).map(Value::from),
        "copy_from_f32" => AnyTensor::ones(&[2], DType::F32).and_then(|ones| ones.to(dtype)).map(Value::from),
        "to_f32" => x.to(DType::F32).map(Value::from),
        "clone" => x.copy().map(Value::from),
        "cat" => on("cat", Args::new().arg(vec![x.clone(), x])),
        "index_0" => x.select(0, 0).map(Value::from),
        "reshape" => x.reshape(&[2, 1]).map(Value::from),
        "eq_self" => x.eq(&x).map(Value::from),
        _ => return None,
    })
}

fn operation(op: &str, dtype: DType, expected: &Json) -> Outcome {
    match (basic(op, dtype), expected == true) {
        (None, _) => Outcome::Unsupported(format!("{op} by name")),
        (Some(Err(error)), _) if error.to_string().contains("there is no operation") => {
            Outcome::Unsupported(error.to_string())
        }
        (Some(Ok(_)), true) | (Some(Err(_)), false) => Outcome::Agrees,
        (Some(Err(_)), true) if dtype.is_shell() && matches!(op, "arange" | "linspace" | "rand") => {
            Outcome::Aside("shell dtypes (u16, u32, u64, float8, float4) have no arithmetic")
        }
        (Some(Ok(_)), false)
            if dtype.is_shell() && matches!(op, "eye" | "ones" | "full_2" | "copy_from_f32" | "to_f32" | "eq_self") =>
        {
            Outcome::Aside("shell dtypes have creation, fill, copy, cast and comparison")
        }
        (Some(Ok(_)), false) if dtype == DType::C32 => Outcome::Beyond,
        (Some(Err(error)), true) => Outcome::Differs(format!("refused: {error}")),
        (Some(Ok(_)), false) => Outcome::Differs(format!("PyTorch refuses it ({expected})")),
    }
}

pub fn dtypes(text: &str, table: &mut Table) -> Result<(), String> {
    let json: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    for row in json["dtypes"].as_array().map_or(&[][..], |rows| rows) {
        let code = row["code"].as_str().unwrap_or("");
        let dtype = tokens::dtype(code).ok_or_else(|| format!("no such dtype: {code}"))?;
        let mut check =
            |subject: &str, outcome: Outcome| table.row(subject, || format!("{subject} of {code}"), || outcome);
        check("name", equal(Some(dtype.name()), row["name"].as_str()));
        check("repr", equal(Some(&*format!("{dtype:?}")), row["repr"].as_str()));
        for alias in row["aliases"].as_array().into_iter().flatten().filter_map(Json::as_str) {
            check("aliases", equal(alias.parse().ok(), Some(dtype)));
        }
        check("itemsize", equal(Some(dtype.itemsize() as u64), row["itemsize"].as_u64()));
        check("is_floating_point", equal(Some(dtype.is_floating_point()), row["is_floating_point"].as_bool()));
        check("is_complex", equal(Some(dtype.is_complex()), row["is_complex"].as_bool()));
        check("is_signed", equal(Some(dtype.is_signed()), row["is_signed"].as_bool()));
        check("to_real", of_dtype(Some(dtype.to_real()), &row["to_real"]));
        check("to_complex", of_dtype(dtype.to_complex(), &row["to_complex"]));
        match dtype {
            DType::F4E2M1FNX2 => check("limits", Outcome::Aside("float4_e2m1fn_x2 has no limits")),
            _ => check("limits", limits(dtype, row)),
        }
        for (op, expected) in row["ops"].as_object().into_iter().flatten() {
            table.row(op, || format!("{op} of {code}: {expected}"), || operation(op, dtype, expected));
        }
    }
    for (constant, code) in json["alias_constants"].as_object().into_iter().flatten() {
        let parsed = constant.strip_prefix("torch.").and_then(|name| name.parse().ok());
        table.row("alias_constants", || constant.clone(), || of_dtype(parsed, code));
    }
    for (call_of, expected) in json["python_literal_inference"].as_object().into_iter().flatten() {
        match (call_of.strip_prefix("default=").and_then(tokens::dtype), expected.as_object()) {
            (Some(default), Some(calls)) => {
                let _guard = castiron::dtype::scoped_default_dtype(default).map_err(|error| error.to_string())?;
                for (call_of, expected) in calls {
                    table.row(call_of, || format!("{call_of} by default {default}"), || inferred(call_of, expected));
                }
            }
            _ => table.row(call_of, || call_of.clone(), || inferred(call_of, expected)),
        }
    }
    for (code, expected) in json["set_default_dtype"].as_object().into_iter().flatten() {
        table.row(
            "set_default_dtype",
            || format!("{code}: {expected}"),
            || {
                let set = tokens::dtype(code).map(castiron::dtype::scoped_default_dtype);
                equal(matches!(set, Some(Ok(_))), expected == "ok")
            },
        );
    }
    Ok(())
}

/// A Python number as it is written, or a list of numbers.
fn literal(text: &str) -> Option<Value> {
    if let Some(items) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        let items = items.split(',').filter(|item| !item.is_empty());
        return items.map(literal).collect::<Option<_>>().map(Value::List);
    }
    let value = match text {
        "True" => ScalarValue::Bool(true),
        "1j" => ScalarValue::Complex(Complex::new(0.0, 1.0)),
        "2**31" => ScalarValue::Int(1 << 31),
        "2**63-1" => ScalarValue::Int((1 << 63) - 1),
        "2**63" => ScalarValue::Int(1 << 63),
        "-2**63" => ScalarValue::Int(-(1 << 63)),
        "2**64" => ScalarValue::Int(1 << 64),
        _ => match text.parse::<i64>() {
            Ok(int) => ScalarValue::Int(int.into()),
            Err(_) => ScalarValue::Float(text.parse().ok()?),
        },
    };
    Some(value.into())
}

/// The dtype a call infers from Python's literals and the default dtype.
fn inferred(call_of: &str, expected: &Json) -> Outcome {
    let on = |name: &str, args: Args| call(name, &args);
    let floats = || AnyTensor::ones(&[2], castiron::dtype::default_dtype());
    let ints = || AnyTensor::ones(&[2], DType::I64);
    let got = match call_of {
        "empty" => on("empty", Args::new().arg(vec![2_i64])),
        "eye" => on("eye", Args::new().arg(2_i64)),
        "linspace" => on("linspace", Args::new().arg(0_i64).arg(1_i64).arg(2_i64)),
        "int/int" => ints().and_then(|x| x / 2).map(Value::from),
        "mean-like sin(int)" => ints().and_then(|x| x.sin()).map(Value::from),
        "complex(f,f)" => floats().and_then(|x| x.complex(&x)).map(Value::from),
        _ => {
            let Some((name, argument)) = call_of.strip_suffix(')').and_then(|text| text.split_once('(')) else {
                return Outcome::Differs("the row has another form".to_owned());
            };
            let Some(value) = literal(argument) else { return Outcome::Differs(format!("no literal: {argument}")) };
            match name {
                "full" => on("full", Args::new().arg(vec![2_i64]).arg(value)),
                name => on(name, Args::new().arg(value)),
            }
        }
    };
    match (got, expected.as_array().map(|fields| &fields[..])) {
        (Ok(Value::Array(got)), Some([code])) => of_dtype(Some(got.dtype()), code),
        (Err(_), Some([_, _])) => Outcome::Agrees,
        (Ok(_), _) => Outcome::Differs(format!("PyTorch refuses it ({expected})")),
        (Err(error), _) => Outcome::Differs(format!("refused: {error}")),
    }
}
