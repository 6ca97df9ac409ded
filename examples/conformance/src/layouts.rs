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

/// In the order of the lists in the table.
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
                    "flip0" if x.rank() == 0 => named("flip", one.clone().arg(Value::List(Vec::new().into()))),
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

/// The layouts named in rows with three operands.
fn layout(name: &str) -> Result<AnyTensor> {
    let json = |values: &[usize]| Json::from(values.to_vec());
    let sizes = json(&[2, 3, 4, 5]);
    match name {
        "C" => tensor(&sizes, &json(&[60, 20, 5, 1]), 0),
        "CL" => tensor(&sizes, &json(&[60, 1, 15, 3]), 0),
        "F" => tensor(&sizes, &json(&[1, 2, 6, 24]), 0),
        "scalar" => AnyTensor::ones(&[], DType::F32),
        "expand_all" => tensor(&sizes, &json(&[0, 0, 0, 0]), 0),
        "expand_dim0" => tensor(&sizes, &json(&[0, 20, 5, 1]), 0),
        "row" => tensor(&json(&[5]), &json(&[1]), 0),
        other => Err(castiron::Error::InvalidArgument { op: "layout", reason: format!("there is no layout {other}") }),
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
                // PyTorch stores it in eight bits, which wrap.
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
                let device = match index.parse::<i64>() {
                    Ok(index) => AnyDevice::new((kind, index)),
                    Err(_) if index == "None" => AnyDevice::new((kind, None::<i64>)),
                    // The compiler only takes integers here.
                    Err(_) if row["str"].is_null() => return Outcome::Agrees,
                    Err(_) => return Outcome::Unsupported(args.clone()),
                };
                match (device, row["str"].as_str()) {
                    (Err(_), None) => Outcome::Agrees,
                    (Ok(device), Some(expected)) if device.to_string() == expected => Outcome::Agrees,
                    (Err(_), Some(printed)) if printed != format!("{kind}:{index}") => Outcome::Aside(RANGE),
                    (got, expected) => Outcome::Differs(format!("{got:?}, expected {expected:?}")),
                }
            },
        );
    }
    for row in rows("other_args") {
        let text = row["arg"].as_str().unwrap_or("");
        table.row("other_args", || row.to_string(), || other_argument(text, row["str"].as_str()));
    }
    for (what, expected) in json["misc"].as_object().into_iter().flatten() {
        let text = || format!("{what}: {expected}");
        table.row("misc", text, || placement(what, expected));
    }
    Ok(())
}

/// An argument for a device that is not a string.
fn other_argument(text: &str, expected: Option<&str>) -> Outcome {
    let device = match text {
        "torch.device('cuda:1')" => AnyDevice::new("cuda:1").and_then(AnyDevice::new),
        "type='cuda',index=2" => AnyDevice::new(("cuda", 2)),
        "type='cuda'" | "b'cuda'" => AnyDevice::new("cuda"),
        text => match (text.parse::<i64>().map(AnyDevice::new), expected) {
            (Ok(Err(_)), Some(_)) => {
                return Outcome::Aside("an ordinal alone is the accelerator's: an error where there is none");
            }
            (Ok(device), _) => device,
            // The compiler refuses everything but strings, devices and integers.
            (Err(_), None) => return Outcome::Agrees,
            (Err(_), Some(_)) => return Outcome::Unsupported(text.to_owned()),
        },
    };
    match (device, expected) {
        (Err(_), None) => Outcome::Agrees,
        (Ok(device), Some(expected)) if device.to_string() == expected => Outcome::Agrees,
        (got, expected) => Outcome::Differs(format!("{got:?}, expected {expected:?}")),
    }
}

/// Ones on a device: `cpu`, or `meta 0-d` for a zero-dim one.
fn placed(text: &str) -> Result<AnyTensor> {
    let (device, sizes) = match text.split_once(' ') {
        Some((device, "0-d")) => (device, &[][..]),
        _ => (text, &[2][..]),
    };
    AnyTensor::ones(sizes, DType::F32)?.to_device(device)
}

/// Runs an operation that combines devices.
fn met(what: &str) -> Option<Result<AnyTensor>> {
    let empty = |device: &str| AnyTensor::zeros_on(&[2], DType::F32, device);
    let index = |device: &str| AnyTensor::zeros(&[1], DType::I64)?.to_device(device);
    let added = |a: &str, b: &str| {
        let mut a = placed(a)?;
        a.add_(&placed(b)?)?;
        Ok(a)
    };
    let copied = |to: &str, from: &str| {
        let mut to = placed(to)?;
        to.copy_from(&placed(from)?)?;
        Ok(to)
    };
    Some(match what {
        "tensor on cpu .device" | "empty.device == device('cpu')" => placed("cpu"),
        "tensor.to('cpu:0').device" => placed("cpu").and_then(|x| x.to_device("cpu:0")),
        "empty(device=0)" => AnyTensor::zeros_on(&[2], DType::F32, 0),
        "meta + 1" => placed("meta").and_then(|x| x + 1),
        "cat cpu,meta" => placed("cpu").and_then(|a| castiron::any::cat(&[a, placed("meta")?], 0)),
        "mm cpu,meta" => placed("cpu").and_then(|a| a.unsqueeze(0)?.matmul(&placed("meta")?.unsqueeze(1)?)),
        "cpu iadd meta" => added("cpu", "meta"),
        "meta iadd cpu" => added("meta", "cpu"),
        "meta iadd cpu 0-d" => added("meta", "cpu 0-d"),
        "cpu copy_ meta" => copied("cpu", "meta"),
        "meta copy_ cpu" => copied("meta", "cpu"),
        "meta.to('cpu')" => placed("meta").and_then(|x| x.to_device("cpu")),
        "meta.item()" => placed("meta 0-d").and_then(|x| x.item().map(|_| x)),
        "where cpu cond, meta" => placed("cpu").and_then(|x| {
            let meta = placed("meta")?;
            castiron::any::where_(&x.gt(0)?, &meta, &meta)
        }),
        "meta index with cpu long" => placed("meta").and_then(|x| x.index(&[index("cpu")?.into()])),
        "cpu index with meta long" => placed("cpu").and_then(|x| x.index(&[index("meta")?.into()])),
        _ => match (what.strip_prefix("empty(device='"), what.split_once(" + ")) {
            (Some(rest), _) => empty(rest.split('\'').next().unwrap_or("")),
            (None, Some((a, b))) => placed(a).and_then(|a| a + placed(b)?),
            _ => return None,
        },
    })
}

/// Where results are placed, and which devices may be combined.
fn placement(what: &str, expected: &Json) -> Outcome {
    if what == "with device('meta')" {
        let made = castiron::device::scoped_default_device("meta").and_then(|_guard| {
            let made = [AnyTensor::zeros(&[2], DType::F32)?, AnyTensor::zeros_on(&[2], DType::F32, "cpu")?];
            Ok(made.map(|x| x.device_name()))
        });
        return match made {
            Ok(["meta", "cpu"]) => Outcome::Agrees,
            other => Outcome::Differs(format!("{other:?}")),
        };
    }
    match (met(what), expected) {
        (None, _) => Outcome::Aside("what Python is asked: text beside a device, order, pickling, lists of names"),
        (Some(Err(_)), Json::Object(_)) => Outcome::Agrees,
        (Some(Ok(_)), Json::Bool(true)) => Outcome::Agrees,
        (Some(Ok(got)), Json::String(device)) if device.ends_with(got.device_name()) => Outcome::Agrees,
        (Some(Err(_)), _) if what.contains("meta") && what.contains("cpu") => {
            Outcome::Aside("two devices are refused, also where PyTorch forgets to")
        }
        (Some(Ok(got)), Json::Object(_)) if got.device_name().starts_with("cuda") => {
            Outcome::Aside("a machine with CUDA")
        }
        (Some(Ok(got)), expected) => Outcome::Differs(format!("on {}, expected {expected}", got.device_name())),
        (Some(Err(error)), expected) => Outcome::Differs(format!("refused: {error}; expected {expected}")),
    }
}
