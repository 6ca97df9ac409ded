//! Tables of dtypes: what each operation gives for each dtype, pair of dtypes and kind of operand, or that it refuses.

use crate::report::{Outcome, Table};
use crate::tokens;
use castiron::any::{Args, Value, alias, call, ops};
use castiron::{AnyTensor, Complex, DType, ScalarValue};
use serde_json::Value as Json;
use std::collections::{HashMap, HashSet};

const SHELLS: &str = "shell dtypes (u16, u32, u64, float8, float4) have no arithmetic";

/// An operand of ones: `T` a list of two, `Z` zero-dim, `S` a Python number.
fn operand(kind: &str, code: &str) -> Option<Value> {
    let value = match code {
        "py.bool" => ScalarValue::Bool(true),
        "py.int" => ScalarValue::Int(1),
        "py.float" => ScalarValue::Float(1.0),
        "py.complex" => ScalarValue::Complex(Complex::new(1.0, 0.0)),
        _ => return ones(tokens::dtype(code)?, if kind == "Z" { &[] } else { &[2] }).map(Value::Array),
    };
    Some(value.into())
}

/// Ones; zero bytes where nothing converts.
fn ones(dtype: DType, sizes: &[usize]) -> Option<AnyTensor> {
    AnyTensor::ones(sizes, dtype).or_else(|_| AnyTensor::zeros(sizes, dtype)).ok()
}

fn is_shell(code: &str) -> bool {
    tokens::dtype(code).is_some_and(DType::is_shell)
}

/// Dtypes that lack some kernels in PyTorch, where wider ones of their category have them.
fn is_small(code: &str) -> bool {
    matches!(code, "f16" | "bf16" | "c32")
}

/// What came of a call, against the dtypes of the result or an error of some category.
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
            "NOTIMPL" if shell => Outcome::Aside("shell dtypes move, whichever kernels PyTorch has"),
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

/// Which operation a row of the binary table calls, and what with: names of ours, or of PyTorch's with arguments.
fn binary_call(op: &str) -> Option<(&str, Vec<(&'static str, Value)>)> {
    let plain = |name| Some((name, Vec::new()));
    let alpha = |name, alpha: Value| Some((name, vec![("alpha", alpha)]));
    match op {
        "op_and" => plain("bitwise_and"),
        "op_or" => plain("bitwise_or"),
        "op_xor" => plain("bitwise_xor"),
        "op_lshift" => plain("bitwise_left_shift"),
        "op_rshift" => plain("bitwise_right_shift"),
        "op_floordiv" => plain("floor_divide"),
        "op_mod" => plain("remainder"),
        "op_pow" => plain("pow"),
        "op_sub" => plain("sub"),
        "op_truediv" => plain("div"),
        "add_alpha2" => alpha("add", 2_i64.into()),
        "add_alpha2.5" => alpha("add", 2.5.into()),
        "sub_alpha2.5" => alpha("sub", 2.5.into()),
        "div_floor" => Some(("div", vec![("rounding_mode", "floor".into())])),
        "div_trunc" => Some(("div", vec![("rounding_mode", "trunc".into())])),
        "special_xlog1py" => plain("special.xlog1py"),
        "special_zeta" => plain("special.zeta"),
        "add"
        | "atan2"
        | "bitwise_and"
        | "bitwise_left_shift"
        | "bitwise_or"
        | "bitwise_right_shift"
        | "bitwise_xor"
        | "clamp_max"
        | "clamp_min"
        | "copysign"
        | "div"
        | "eq"
        | "float_power"
        | "floor_divide"
        | "fmax"
        | "fmin"
        | "fmod"
        | "gcd"
        | "ge"
        | "gt"
        | "heaviside"
        | "hypot"
        | "lcm"
        | "ldexp"
        | "le"
        | "logaddexp"
        | "logaddexp2"
        | "logical_and"
        | "logical_or"
        | "logical_xor"
        | "lt"
        | "maximum"
        | "minimum"
        | "mul"
        | "ne"
        | "nextafter"
        | "pow"
        | "remainder"
        | "rsub"
        | "sub"
        | "true_divide"
        | "xlogy"
        | "isclose"
        | "equal"
        | "outer"
        | "inner"
        | "dot"
        | "vdot"
        | "kron"
        | "isin"
        | "complex"
        | "polar"
        | "dist"
        | "cartesian_prod"
        | "bucketize"
        | "searchsorted" => plain(op),
        "prelu" => plain("nn.functional.prelu"),
        "lerp_w0.5" => Some(("lerp", vec![("weight", 0.5.into())])),
        _ => None,
    }
}

fn known() -> HashSet<&'static str> {
    ops().map(|op| op.name).collect()
}

/// Ones of the same dtype, of so many axes of size 2.
fn square(of: &Value, rank: usize) -> Option<Value> {
    let Value::Array(of) = of else { return None };
    ones(of.dtype(), &vec![2; rank]).map(Value::Array)
}

/// A tensor, an axis, indices of it, and what is written there.
fn along(a: &Value, b: &Value) -> Option<Args> {
    let index = AnyTensor::zeros(&[2], DType::I64).ok()?;
    Some(Args::new().arg(a.clone()).arg(0_i64).arg(index).arg(b.clone()))
}

/// The arguments of a row whose call takes the operands in another form than one after the other.
fn grouped(op: &str, a: &Value, b: &Value) -> Option<(&'static str, Args)> {
    let both = || Value::List(vec![a.clone(), b.clone()]);
    let twice = |first: &Value, second: &Value, third: &Value| {
        Args::new().arg(first.clone()).arg(second.clone()).arg(third.clone())
    };
    Some(match op {
        "stack" => ("stack", Args::new().arg(both())),
        "column_stack" => ("column_stack", Args::new().arg(both())),
        "block_diag" => ("block_diag", Args::new().arg(a.clone()).arg(b.clone())),
        "meshgrid" => ("meshgrid", Args::new().arg(a.clone()).arg(b.clone())),
        "broadcast_tensors" => ("broadcast_tensors", Args::new().arg(a.clone()).arg(b.clone())),
        "where" => ("where", twice(&Value::Array(AnyTensor::ones(&[2], DType::Bool).ok()?), a, b)),
        "addcmul_abb" => ("addcmul", twice(a, b, b)),
        "addcmul_aab" => ("addcmul", twice(a, a, b)),
        "addcdiv_aab" => ("addcdiv", twice(a, a, b)),
        "cat" => ("cat", Args::new().arg(both())),
        "clamp_minmax" => ("clamp", twice(a, b, b)),
        "masked_fill_TTb" => ("masked_fill", twice(a, &Value::Array(AnyTensor::ones(&[2], DType::Bool).ok()?), b)),
        "mm" | "matmul_mm" | "linear" | "cdist" => {
            let name = match op {
                "linear" => "nn.functional.linear",
                "matmul_mm" => "matmul",
                "mm" => "mm",
                _ => "cdist",
            };
            (name, Args::new().arg(square(a, 2)?).arg(square(b, 2)?))
        }
        "mv" => ("mv", Args::new().arg(square(a, 2)?).arg(b.clone())),
        "bmm" => ("bmm", Args::new().arg(square(a, 3)?).arg(square(b, 3)?)),
        "addmm_abb" => ("addmm", twice(&square(a, 2)?, &square(b, 2)?, &square(b, 2)?)),
        "baddbmm_abb" => ("baddbmm", twice(&square(a, 3)?, &square(b, 3)?, &square(b, 3)?)),
        "einsum_ij_jk" => ("einsum", twice(&"ij,jk->ik".into(), &square(a, 2)?, &square(b, 2)?)),
        "linalg_vecdot" => ("linalg.vecdot", Args::new().arg(a.clone()).arg(b.clone())),
        "scatter_add_src_b" => ("scatter_add", along(a, b)?),
        "index_add_src_b" => ("index_add", along(a, b)?),
        _ => return None,
    })
}

pub fn binary(text: &str, table: &mut Table) -> Result<(), String> {
    let (csv, known) = (csv(text), known());
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
                let is_known = |name: &str| known.contains(name) || alias(name).is_some();
                let (name, args) = match (grouped(op, &a, &b), binary_call(op)) {
                    (Some((name, args)), _) if is_known(name) => (name, args),
                    (None, Some((name, named))) if is_known(name) => {
                        let args = Args::new().arg(a).arg(b);
                        (name, named.into_iter().fold(args, |args, (name, value)| args.named(name, value)))
                    }
                    _ => return Outcome::Unsupported(op.to_owned()),
                };
                judge(call(name, &args), expected, csv.categories.get(expected).copied(), &[lhs, rhs])
            },
        );
    }
    Ok(())
}

/// How a row of the unary table is called, on a tensor of ones.
fn unary_call(op: &str, x: AnyTensor) -> Option<(String, Args)> {
    let plain = |name: &str| Some((name.to_owned(), Args::new().arg(&x)));
    if let Some(name) = op.strip_prefix("F_") {
        return plain(&format!("nn.functional.{name}"));
    }
    if let Some(name) = op.strip_prefix("special_") {
        return plain(&format!("special.{name}"));
    }
    if let Some((name, dtype)) = op.split_once("_dtype=") {
        let dtype = tokens::dtype(dtype)?;
        let name = if name == "vector_norm" { "linalg.vector_norm" } else { name };
        let args = Args::new().arg(&x);
        let args = if matches!(name, "softmax" | "cumsum") { args.named("dim", 0_i64) } else { args };
        return Some((name.to_owned(), args.named("dtype", dtype)));
    }
    if let Some(name) = op.strip_suffix("_dim0") {
        return Some((name.to_owned(), Args::new().arg(&x).named("dim", 0_i64)));
    }
    if let Some(dtype) = op.strip_prefix("to_").and_then(tokens::dtype) {
        return Some(("to".to_owned(), Args::new().arg(&x).arg(dtype)));
    }
    match op {
        "clamp_0_1" => Some(("clamp".to_owned(), Args::new().arg(&x).arg(0_i64).arg(1_i64))),
        "clamp_0_1.5" => Some(("clamp".to_owned(), Args::new().arg(&x).arg(0_i64).arg(1.5))),
        "clamp_min_True" => Some(("clamp".to_owned(), Args::new().arg(&x).named("min", true))),
        "pow_-1" => Some(("pow".to_owned(), Args::new().arg(&x).arg(-1_i64))),
        "pow_0.5" => Some(("pow".to_owned(), Args::new().arg(&x).arg(0.5))),
        "pow_2" => Some(("pow".to_owned(), Args::new().arg(&x).arg(2_i64))),
        "pow_2.0" => Some(("pow".to_owned(), Args::new().arg(&x).arg(2.0))),
        "rpow_2" => Some(("pow".to_owned(), Args::new().arg(2_i64).arg(&x))),
        "rpow_2.0" => Some(("pow".to_owned(), Args::new().arg(2.0).arg(&x))),
        "rpow_True" => Some(("pow".to_owned(), Args::new().arg(true).arg(&x))),
        "rsub_1" => Some(("rsub".to_owned(), Args::new().arg(&x).arg(1_i64))),
        "rdiv_1" => Some(("div".to_owned(), Args::new().arg(1_i64).arg(&x))),
        "rfloordiv_1" => Some(("floor_divide".to_owned(), Args::new().arg(1_i64).arg(&x))),
        "rmod_1" => Some(("remainder".to_owned(), Args::new().arg(1_i64).arg(&x))),
        "rlshift_1" => Some(("bitwise_left_shift".to_owned(), Args::new().arg(1_i64).arg(&x))),
        "py_abs" => plain("abs"),
        "py_neg" => plain("neg"),
        "py_pos" => plain("positive"),
        "py_invert" => plain("bitwise_not"),
        "sum" | "prod" | "mean" | "any" | "all" | "amax" | "amin" | "argmax" | "argmin" | "count_nonzero" | "max"
        | "min" | "median" | "nanmedian" | "nansum" | "nanmean" | "std" | "var" => plain(op),
        "flip" => Some(("flip".to_owned(), Args::new().arg(&x).arg(0_i64))),
        // The table's matrix is not said.
        "trace" => None,
        _ if ops().any(|known| known.name == op && known.arguments == ["input"]) || alias(op).is_some() => plain(op),
        _ => None,
    }
}

pub fn unary(text: &str, table: &mut Table) -> Result<(), String> {
    let (csv, known) = (csv(text), known());
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
                let Some(x) = tokens::dtype(code).and_then(|dtype| ones(dtype, &[2])) else {
                    return Outcome::Differs("no such dtype".to_owned());
                };
                let asked = name.split_once("_dtype=").map_or("", |(_, dtype)| dtype);
                let called = unary_call(name, x).filter(|(name, _)| known.contains(&**name) || alias(name).is_some());
                let Some((called, args)) = called else { return Outcome::Unsupported(name.to_owned()) };
                if matches!(&*called, "any" | "all") && code == "u8" {
                    return Outcome::Aside("any and all give bool for u8, too");
                }
                judge(
                    call(&called, &args),
                    expected,
                    csv.categories.get(expected).copied(),
                    &[code, default.unwrap_or(""), asked],
                )
            },
        );
    }
    Ok(())
}

/// The method in place that a row of the table means.
fn in_place(op: &str) -> Option<&'static str> {
    let name = match op {
        "iadd" => "add",
        "isub" => "sub",
        "imul" => "mul",
        "itruediv" => "div",
        "ifloordiv" => "floor_divide",
        "imod" => "remainder",
        "ipow" => "pow",
        "iand" => "bitwise_and",
        "ior" => "bitwise_or",
        "ixor" => "bitwise_xor",
        "ilshift" => "bitwise_left_shift",
        "irshift" => "bitwise_right_shift",
        "div_floor_" => "floor_divide",
        "div_trunc_" => "trunc_divide",
        op => op.strip_suffix('_').unwrap_or(op),
    };
    castiron::any::rows().find(|row| *row == name)
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
                    "ip" => {
                        let (Some(name), Some(other)) = (in_place(op), operand(right, rhs)) else {
                            return unsupported();
                        };
                        let other = match other {
                            Value::Array(tensor) => tensor.into(),
                            Value::Number(value) => castiron::any::AnyOperand::from(value),
                            _ => return unsupported(),
                        };
                        match op {
                            "clamp_min" => out.clamp_(Some(other), None).map(|_| ()),
                            "clamp_max" => out.clamp_(None, Some(other)).map(|_| ()),
                            _ => castiron::any::update(name, &mut out, Some(other)),
                        }
                    }
                    "self" => {
                        let Some(name) = in_place(op) else { return unsupported() };
                        castiron::any::update(name, &mut out, None)
                    }
                    "out" => {
                        let Some(name) = in_place(op) else { return unsupported() };
                        let Some(Value::Array(x)) = operand("T", rhs) else { return unsupported() };
                        castiron::any::write(name, &x, &mut out)
                    }
                    _ => return unsupported(),
                };
                let shell = is_shell(lhs) || is_shell(rhs);
                match (result, category, expected) {
                    (Ok(()), None, "ok") => Outcome::Agrees,
                    (Err(_), Some(_), _) => Outcome::Agrees,
                    (Err(_), None, _) if shell => Outcome::Aside(SHELLS),
                    (Err(error), None, _) => Outcome::Differs(format!("refused: {error}; expected {expected}")),
                    (Ok(()), Some("NOTIMPL"), _) if is_small(lhs) || is_small(rhs) => Outcome::Beyond,
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

/// A dtype as a tensor of it, which is what results are compared by.
fn of_dtype(value: Value) -> Value {
    match value {
        Value::Type(dtype) => AnyTensor::zeros(&[], dtype).map_or(Value::Absent, Value::Array),
        other => other,
    }
}
