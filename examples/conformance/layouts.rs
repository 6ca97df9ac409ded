//! `memory_format.json` and `device.json`: strides of results, and names of devices.

use crate::report::{Outcome, Table};
use castiron::any::{Args, Value, call};
use castiron::{AnyDevice, AnyTensor, DType, MemoryFormat, Result};
use serde_json::Value as Json;

fn numbers(json: &Json) -> Vec<usize> {
    json.as_array()
        .map(|items| items.iter().map(|item| item.as_u64().unwrap_or(0) as usize).collect())
        .unwrap_or_default()
}

/// Ones with these sizes and strides.
fn tensor(sizes: &Json, strides: &Json, offset: usize) -> Result<AnyTensor> {
    let (sizes, strides) = (numbers(sizes), numbers(strides));
    let empty = sizes.contains(&0);
    let reach = sizes.iter().zip(&strides).map(|(size, stride)| size.saturating_sub(1) * stride).sum::<usize>();
    let storage = AnyTensor::ones(&[offset + if empty { 0 } else { reach + 1 }], DType::F32)?;
    storage.as_strided(&sizes, &strides, Some(offset))
}

/// Compares strides, or that both refuse.
fn compare(got: Result<AnyTensor>, expected: &Json) -> Outcome {
    match (got, expected) {
        (Err(error), _) if error.to_string().contains("there is no operation") => {
            Outcome::Unsupported(error.to_string())
        }
        (Ok(got), Json::Array(_)) if got.stride() == numbers(expected) => Outcome::Agrees,
        (Ok(got), Json::Array(_)) => Outcome::Differs(format!("strides {:?}, expected {expected}", got.stride())),
        (Err(_), Json::String(_)) => Outcome::Agrees,
        (Ok(_), _) => Outcome::Differs(format!("PyTorch refuses it ({expected})")),
        (Err(error), _) => Outcome::Differs(format!("refused: {error}")),
    }
}

fn named(name: &str, args: Args) -> Result<AnyTensor> {
    call(name, &args)?.tensor()
}

/// In the order of the table's lists.
const FORMATS: [MemoryFormat; 4] =
    [MemoryFormat::CONTIGUOUS, MemoryFormat::CHANNELS_LAST, MemoryFormat::CHANNELS_LAST_3D, MemoryFormat::PRESERVE];

fn case(table: &mut Table, case: &Json) {
    let text = || case["d"].to_string();
    let input = tensor(&case["shape"], &case["stride"], case["off"].as_u64().unwrap_or(0) as usize);
    let Ok(x) = &input else {
        return table.row("input", text, || Outcome::Differs(format!("{:?}", input.as_ref().err())));
    };
    for (at, format) in FORMATS.into_iter().enumerate() {
        table.row("is_contiguous", text, || {
            let expected = case["is_contiguous"][at] == 1;
            if x.is_contiguous_in(format) == expected { Outcome::Agrees } else { Outcome::Differs(format!("{format}")) }
        });
        table.row("clone", text, || compare(x.copy_in(format), &case["clone"][at]));
        table.row("empty_like", text, || compare(AnyTensor::like(x, DType::F32, format), &case["empty_like"][at]));
        table.row("contiguous", text, || compare(x.contiguous_in(format), &case["contiguous"][at]));
        table.row("to", text, || compare(x.to_in(DType::F64, format), &case["to_f64"][at]));
        table.row("to", text, || compare(x.to_in(DType::F32, format), &case["to_same"][at]));
    }
    table.row("suggest_memory_format", text, || {
        let suggested = MemoryFormat::suggested(x.shape(), x.stride());
        if case["suggest_mf"] == suggested.name() { Outcome::Agrees } else { Outcome::Differs(suggested.to_string()) }
    });
    let one = Args::new().arg(x);
    for (op, expected) in case["default"].as_object().into_iter().flatten() {
        table.row(
            op,
            || format!("{op} {}", case["d"]),
            || {
                let got = match op.as_str() {
                    "clone" | "zeros_like" | "contiguous" | "abs" => named(op, one.clone()),
                    "to_f64" => x.to(DType::F64),
                    "t+1" => x + 1,
                    "t+t" => x + x,
                    "t<1" => x.lt(1),
                    "empty(strides ignored)new_empty" => {
                        let sizes: Vec<i64> = x.shape().iter().map(|&size| size as i64).collect();
                        named("new_empty", one.clone().named("size", sizes))
                    }
                    "cumsum0" => named("cumsum", one.clone().arg(0_i64)),
                    "flip0" if x.rank() == 0 => named("flip", one.clone().arg(Value::List(Vec::new()))),
                    "flip0" => named("flip", one.clone().arg(vec![0_i64])),
                    "softmax0" => named("softmax", one.clone().arg(0_i64)),
                    "where" => x.gt(0).and_then(|mask| named("where", Args::new().arg(mask).arg(x).arg(x))),
                    "sum_keepdim_last" => named("sum", one.clone().arg(-1_i64).named("keepdim", true)),
                    "reshape_flat" => x.reshape(&[x.numel() as i64]),
                    _ => return Outcome::Unsupported(op.clone()),
                };
                compare(got, expected)
            },
        );
    }
}

fn binary(table: &mut Table, row: &Json) {
    let text = || row.to_string().chars().take(160).collect::<String>();
    let pair = tensor(&row[2], &row[3], 0).and_then(|a| Ok((a, tensor(&row[4], &row[5], 0)?)));
    let Ok((a, b)) = &pair else {
        return table.row("input", text, || Outcome::Differs(format!("{:?}", pair.as_ref().err())));
    };
    table.row("a + b", text, || compare(a + b, &row[7]));
    table.row("a > b", text, || compare(a.gt(b), &row[8]));
    table.row("a + b.double()", text, || compare(b.to(DType::F64).and_then(|b| a + &b), &row[9]));
    table.row("where", text, || {
        compare(a.gt(0).and_then(|mask| named("where", Args::new().arg(mask).arg(a).arg(b))), &row[10])
    });
    table
        .row("add(alpha=2)", text, || compare(named("add", Args::new().arg(a).arg(b).named("alpha", 2_i64)), &row[11]));
}

/// The layouts that the three-operand rows name.
fn layout(name: &str) -> Result<AnyTensor> {
    let json = |values: &[usize]| Json::from(values.to_vec());
    let sizes = json(&[2, 3, 4, 5]);
    match name {
        "C" => tensor(&sizes, &json(&[60, 20, 5, 1]), 0),
        "CL" => tensor(&sizes, &json(&[60, 1, 15, 3]), 0),
        "F" => tensor(&sizes, &json(&[1, 2, 6, 24]), 0),
        "scalar" => AnyTensor::ones(&[], DType::F32),
        "expand_all" => tensor(&sizes, &json(&[0, 0, 0, 0]), 0),
        _ => AnyTensor::ones(&[], DType::F32).and_then(|one| one.reshape(&[2])),
    }
}

pub fn memory_format(text: &str, table: &mut Table) -> std::result::Result<(), String> {
    let json: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let rows = |name: &str| json[name].as_array().map_or(&[][..], |rows| rows);
    rows("cases").iter().for_each(|row| case(table, row));
    rows("binary").iter().for_each(|row| binary(table, row));
    for row in rows("ternary") {
        let of = |at: usize| layout(row[at].as_str().unwrap_or(""));
        let three = of(0).and_then(|a| Ok((a, of(1)?, of(2)?)));
        let Ok((a, b, c)) = three else {
            table.row("three operands", || row.to_string(), || Outcome::Unsupported(format!("layouts {row}")));
            continue;
        };
        let text = || row.to_string();
        table.row("addcmul", text, || compare(named("addcmul", Args::new().arg(&a).arg(&b).arg(&c)), &row[3]));
        table.row("where", text, || {
            compare(a.gt(0).and_then(|mask| named("where", Args::new().arg(mask).arg(&b).arg(&c))), &row[4])
        });
    }
    Ok(())
}

pub fn device(text: &str, table: &mut Table) -> std::result::Result<(), String> {
    const RANGE: &str = "ordinals out of range are errors";
    let json: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let rows = |name: &str| json[name].as_array().map_or(&[][..], |rows| rows);
    for row in rows("strings") {
        let text = row["in"].as_str().unwrap_or("");
        table.row(
            "strings",
            || row.to_string(),
            || match (AnyDevice::new(text), row["str"].as_str()) {
                (Err(_), None) => Outcome::Agrees,
                (Ok(device), Some(expected))
                    if device.to_string() == expected && format!("{device:?}") == row["repr"] =>
                {
                    Outcome::Agrees
                }
                // PyTorch keeps them in eight bits, which wrap.
                (Err(_), Some(printed)) if printed != text => Outcome::Aside(RANGE),
                (got, expected) => Outcome::Differs(format!("{got:?}, expected {expected:?}")),
            },
        );
    }
    for row in rows("equality") {
        let [a, b] = [0, 1].map(|at| row[at].as_str().map(AnyDevice::new));
        table.row(
            "equality",
            || row.to_string(),
            || match (a, b) {
                (Some(Ok(a)), Some(Ok(b))) if row[2] == (a == b) => Outcome::Agrees,
                other => Outcome::Differs(format!("{other:?}")),
            },
        );
    }
    for row in rows("type_index") {
        let args = row["args"].as_str().unwrap_or("").trim_matches(['(', ')']).to_owned();
        table.row(
            "type_index",
            || row.to_string(),
            || {
                let args = args.replacen('\'', "", 2);
                let Some((kind, index)) = args.split_once(", ") else { return Outcome::Unsupported(args.clone()) };
                let Ok(index) = index.parse::<i64>() else { return Outcome::Unsupported(args.clone()) };
                match (AnyDevice::new((kind, index)), row["str"].as_str()) {
                    (Err(_), None) => Outcome::Agrees,
                    (Ok(device), Some(expected)) if device.to_string() == expected => Outcome::Agrees,
                    (Err(_), Some(printed)) if printed != format!("{kind}:{index}") => Outcome::Aside(RANGE),
                    (got, expected) => Outcome::Differs(format!("{got:?}, expected {expected:?}")),
                }
            },
        );
    }
    Ok(())
}
