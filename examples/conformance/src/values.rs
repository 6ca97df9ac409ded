//! `values.json`: the elements of results.

use crate::report::{Outcome, Table};
use crate::tokens;
use castiron::any::{Args, Value, alias, call, ops};
use castiron::{AnyTensor, Complex, DType, ScalarValue, Tensor};
use serde_json::Value as Json;
use std::collections::HashSet;

/// How far transcendental functions may differ from PyTorch's, which are off by some units in the last place themselves.
fn tolerance(op: &str, dtype: DType) -> (f64, f64) {
    match dtype {
        // PyTorch adds and halves in the dtype itself.
        DType::F16 if op == "special_ndtr" => (2e-3, 1e-3),
        DType::BF16 if op == "special_ndtr" => (1.6e-2, 8e-3),
        DType::F16 | DType::C32 => (2e-3, 1e-6),
        DType::BF16 => (1.6e-2, 1e-38),
        DType::F32 | DType::C64 => (2e-6, 1e-38),
        _ => (1e-13, 1e-300),
    }
}

fn list(dtype: DType, text: &str) -> Result<AnyTensor, String> {
    // The parts of complex elements are joined.
    tokens::tensor(dtype, &[text.split_ascii_whitespace().count()], text)
}

fn scalar(text: &str) -> Option<ScalarValue> {
    Some(match text {
        "True" => ScalarValue::Bool(true),
        "nan" => ScalarValue::Float(f64::NAN),
        "1j" => ScalarValue::Complex(Complex::new(0.0, 1.0)),
        "2**40" => ScalarValue::Int(1 << 40),
        "2**63" => ScalarValue::Int(1 << 63),
        _ => match text.parse::<i128>() {
            Ok(int) => ScalarValue::Int(int),
            Err(_) => ScalarValue::Float(text.parse().ok()?),
        },
    })
}

/// The castiron name of an operation in the table.
fn name_of(op: &str) -> String {
    if let Some(name) = op.strip_prefix("F_") {
        format!("nn.functional.{name}")
    } else if let Some(name) = op.strip_prefix("special_") {
        format!("special.{name}")
    } else {
        op.to_owned()
    }
}

struct Oracle<'a> {
    json: &'a Json,
    known: HashSet<&'static str>,
}

impl Oracle<'_> {
    fn text(&self, part: &str, key: &str) -> Option<&str> {
        self.json[part][key].as_str()
    }

    fn pair(&self, part: &str, key: &str, at: usize) -> Option<&str> {
        self.json[part][key][at].as_str()
    }

    /// Calls an operation and gives its results; nothing if castiron does not have it.
    fn call(&self, op: &str, operands: &[Value]) -> Result<Option<Vec<AnyTensor>>, Outcome> {
        let (name, args) = spelled(op, operands);
        let result = match in_steps(op, operands) {
            Some(result) => result,
            None if self.known.contains(&*name) || alias(&name).is_some() => call(&name, &args),
            None => return Err(Outcome::Unsupported(op.to_owned())),
        };
        match result {
            Ok(Value::Array(tensor)) => Ok(Some(vec![tensor])),
            Ok(Value::Number(ScalarValue::Bool(truth))) => {
                Ok(Some(vec![AnyTensor::from(Tensor::<bool, ()>::full(truth))]))
            }
            Ok(Value::List(list)) => Ok(list.into_iter().map(|value| value.tensor().ok()).collect()),
            Ok(_) => Ok(None),
            Err(error) => Err(Outcome::Differs(format!("refused: {error}"))),
        }
    }
}

/// The operation and arguments for names in the table that are not names of operations.
fn spelled(op: &str, operands: &[Value]) -> (String, Args) {
    let args = operands.iter().cloned().fold(Args::new(), |args, operand| args.arg(operand));
    let (name, args) = match op {
        "truediv" => ("div", args),
        "floordiv" => ("floor_divide", args),
        "mod" => ("remainder", args),
        "and" => ("bitwise_and", args),
        "lshift" | "op_lshift" => ("bitwise_left_shift", args),
        "rshift" | "op_rshift" => ("bitwise_right_shift", args),
        "rsub_scalar" => ("rsub", args),
        "div_floor" => ("div", args.named("rounding_mode", "floor")),
        "div_trunc" => ("div", args.named("rounding_mode", "trunc")),
        "add_alpha3" => ("add", args.named("alpha", 3_i64)),
        "lerp_0.25" => ("lerp", args.arg(0.25)),
        "round_d1" => ("round", args.named("decimals", 1_i64)),
        "round_d-1" => ("round", args.named("decimals", -1_i64)),
        "gelu_tanh" => ("nn.functional.gelu", args.named("approximate", "tanh")),
        "flip" => ("flip", args.arg(0_i64)),
        "sort_desc" => ("sort", args.named("descending", true)),
        "topk2" => ("topk", args.arg(2_i64)),
        "kthvalue1" => ("kthvalue", args.arg(1_i64)),
        "unique_all" => ("unique", args.named("return_inverse", true).named("return_counts", true)),
        "norm0" => ("norm", args.arg(0_i64)),
        "norm1" => ("norm", args.arg(1_i64)),
        "norm3" => ("norm", args.arg(3_i64)),
        "norm_inf" => ("norm", args.arg(f64::INFINITY)),
        "norm_ninf" => ("norm", args.arg(f64::NEG_INFINITY)),
        "quantile" => ("quantile", args.arg(QUANTILE)),
        "histc4" => ("histc", args.arg(4_i64).arg(0_i64).arg(4_i64)),
        "xlog1py" => ("special.xlog1py", args),
        "std_corr0" => ("std", args.named("correction", 0_i64)),
        "sum_f32" => ("sum", args.named("dtype", DType::F32)),
        "sum_i32" => ("sum", args.named("dtype", DType::I32)),
        "sum_bool" => ("sum", args.named("dtype", DType::Bool)),
        _ => match op.strip_suffix("_dim0") {
            Some(name) => (name, args.named("dim", 0_i64)),
            None => return (name_of(op), args),
        },
    };
    (name.to_owned(), args)
}

/// The quantile in the table.
const QUANTILE: f64 = 0.25;

/// Operations that take more than one step, or their operands in another order.
fn in_steps(op: &str, operands: &[Value]) -> Option<castiron::Result<Value>> {
    let Some(Value::Array(x)) = operands.first() else { return None };
    let other = operands.get(1).cloned().unwrap_or(Value::Absent);
    let of = |args: &[&Value]| args.iter().fold(Args::new(), |args, &value| args.arg(value.clone()));
    let x_value = Value::from(x);
    Some(match op {
        "dot_self" => call("dot", &of(&[&x_value, &x_value])),
        "equal_self" => call("equal", &of(&[&x_value, &x_value])),
        "addcmul_abb" => call("addcmul", &of(&[&x_value, &other, &other])),
        "addcdiv_aab" => call("addcdiv", &of(&[&x_value, &x_value, &other])),
        "rpow" => call("pow", &of(&[&other, &x_value])),
        // Computed the way Python computes it.
        "rtruediv" => call("reciprocal", &of(&[&x_value])).and_then(|inverse| call("mul", &of(&[&inverse, &other]))),
        "outer_sum" => call("outer", &of(&[&x_value, &x_value])).and_then(|outer| call("sum", &of(&[&outer]))),
        "trace" => call("diag", &of(&[&x_value])).and_then(|matrix| call("trace", &of(&[&matrix]))),
        "mm" => (|| {
            let (row, column) = (Value::from(x.unsqueeze(0)?), Value::from(x.unsqueeze(1)?));
            call("mm", &of(&[&row, &column]))
        })(),
        "where" => x.eq(x).and_then(|is_number| call("where", &of(&[&is_number.into(), &other, &x_value]))),
        "iadd" => (|| {
            let Value::Number(number) = other else { return call("add", &of(&[&x_value, &other])) };
            let mut sum = x.copy()?;
            sum.add_(number)?;
            Ok(sum.into())
        })(),
        "maximum_tensor0d" => (|| {
            let Value::Number(number) = other else { return call("maximum", &of(&[&x_value, &other])) };
            let number: AnyTensor = match number {
                ScalarValue::Bool(value) => Tensor::<bool, ()>::full(value).into(),
                ScalarValue::Int(value) => match i64::try_from(value) {
                    Ok(value) => Tensor::<i64, ()>::full(value).into(),
                    Err(_) => {
                        let reason = format!("{value} does not fit int64");
                        return Err(castiron::Error::InvalidArgument { op: "tensor", reason });
                    }
                },
                ScalarValue::Float(value) => Tensor::<f32, ()>::full(value as f32).into(),
                ScalarValue::Complex(z) => {
                    Tensor::<Complex<f32>, ()>::full(Complex::new(z.re as f32, z.im as f32)).into()
                }
                other => unreachable!("the table has no {other:?}"),
            };
            call("maximum", &of(&[&x_value, &number.into()]))
        })(),
        _ => return None,
    })
}

/// Compares elements, except those excluded from the comparison.
fn compare(op: &str, got: &AnyTensor, code: &str, text: &str, unstable: &HashSet<usize>) -> Outcome {
    let text = &*match text {
        "True" => "1".to_owned(),
        "False" => "0".to_owned(),
        text => text.to_owned(),
    };
    let code = if code == "py.bool" { "bool" } else { code };
    let Some(dtype) = tokens::dtype(code) else { return Outcome::Differs(format!("no such dtype: {code}")) };
    if got.dtype() != dtype {
        return Outcome::Differs(format!("gives {}, expected {dtype}", got.dtype()));
    }
    let tokens: Vec<&str> = text.split_ascii_whitespace().collect();
    let got = match got.cpu().and_then(|got| got.reshape(&[-1])) {
        Ok(got) => got,
        Err(_) if got.is_empty() && tokens.is_empty() => return Outcome::Agrees,
        Err(error) => return Outcome::Differs(error.to_string()),
    };
    let elements: Vec<Option<&str>> = tokens.iter().map(|&token| (!is_error(token)).then_some(token)).collect();
    if elements.len() != got.numel() {
        return Outcome::Differs(format!("{} elements, expected {}", got.numel(), elements.len()));
    }
    let exact =
        !matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64 | DType::C32 | DType::C64 | DType::C128)
            || matches!(
                op,
                "cast"
                    | "add"
                    | "sub"
                    | "mul"
                    | "abs"
                    | "neg"
                    | "maximum"
                    | "minimum"
                    | "floor"
                    | "ceil"
                    | "trunc"
                    | "round"
                    | "copysign"
                    | "nextafter"
                    | "sign"
                    | "where"
                    | "frac"
                    | "fmod"
                    | "remainder"
            );
    let exact = exact && !dtype.is_complex();
    for (at, element) in elements.iter().enumerate() {
        let Some(text) = element else { return Outcome::Differs(format!("PyTorch refuses element {at}")) };
        if unstable.contains(&at) {
            continue;
        }
        let one = got.select(0, at as i64).map_err(|error| error.to_string());
        let checked = one.and_then(|one| {
            let wanted = tokens::tensor(dtype, &[], text)?;
            let (rtol, atol) = tolerance(op, dtype);
            if exact { tokens::same(&one, &wanted) } else { tokens::close(&one, &wanted, rtol, atol) }
        });
        if let Err(error) = checked {
            return Outcome::Differs(format!("at {at}: {error}"));
        }
    }
    Outcome::Agrees
}

/// Whether this stands for an error: `E728`.
fn is_error(token: &str) -> bool {
    token.strip_prefix('E').is_some_and(|code| !code.is_empty() && code.chars().all(|c| c.is_ascii_digit()))
}

/// A row in which the vector raised an error for some of its elements, which were then evaluated one at a time.
fn one_by_one(
    oracle: &Oracle<'_>,
    op: &str,
    operands: &[Value],
    [error, code, elements]: [&str; 3],
    unstable: &HashSet<usize>,
) -> Outcome {
    let kills = |token: &str| oracle.json["errors"][token][1] == "CRASH";
    match oracle.call(op, operands) {
        Err(Outcome::Differs(_)) => {}
        // Where PyTorch's process was killed, castiron's integers wrap.
        Ok(Some(_)) if kills(error) => {}
        Err(outcome) => return outcome,
        Ok(_) => return Outcome::Differs(format!("PyTorch refuses the vector ({error})")),
    }
    let mut wraps = false;
    for (at, token) in elements.split_ascii_whitespace().enumerate() {
        let single = |operand: &Value| match operand {
            Value::Array(x) if x.rank() > 0 => x.narrow(0, at as i64, 1).map(Value::from),
            operand => Ok(operand.clone()),
        };
        let single = match operands.iter().map(single).collect::<castiron::Result<Vec<_>>>() {
            Ok(single) => single,
            Err(error) => return Outcome::Differs(error.to_string()),
        };
        match oracle.call(op, &single) {
            Ok(Some(_)) if kills(token) => wraps = true,
            Err(Outcome::Differs(_)) if is_error(token) => {}
            Err(Outcome::Differs(why)) if op == "fill" && why.contains("does not fit") => {
                return Outcome::Aside("a value that does not fit is refused, also where one element is filled");
            }
            Ok(Some(got)) if !is_error(token) && got.len() == 1 => {
                let unstable = if unstable.contains(&at) { HashSet::from([0]) } else { HashSet::new() };
                match compare(op, &got[0], code, token, &unstable) {
                    Outcome::Agrees => {}
                    outcome => return outcome,
                }
            }
            Err(Outcome::Differs(why)) => return Outcome::Differs(format!("element {at}: {why}")),
            Err(outcome) => return outcome,
            Ok(_) => return Outcome::Differs(format!("element {at}: PyTorch gives {token}")),
        }
    }
    if wraps { Outcome::Aside("integer divisions and lcm that kill PyTorch's process wrap") } else { Outcome::Agrees }
}

fn row(oracle: &Oracle<'_>, part: &str, fields: &[Json]) -> Outcome {
    let text = |at: usize| fields.get(at).and_then(Json::as_str).unwrap_or("");
    let (op, key, code, elements) = (text(0), text(1), text(2), text(3));
    let unstable: HashSet<usize> = fields
        .get(4)
        .and_then(Json::as_array)
        .map(|list| list.iter().filter_map(Json::as_u64).map(|at| at as usize).collect())
        .unwrap_or_default();
    // The error that the whole vector raised.
    let vector_raised = [4, 5].into_iter().find_map(|at| fields.get(at)?.as_str()).filter(|code| is_error(code));
    let built = || -> Option<(Vec<&str>, Vec<Value>)> {
        Some(match part {
            "unary" => (vec![key], vec![list(tokens::dtype(key)?, oracle.text("inputs_unary", key)?).ok()?.into()]),
            "binary" => {
                let dtype = tokens::dtype(key)?;
                let of = |at| list(dtype, oracle.pair("inputs_binary", key, at)?).ok();
                (vec![key], vec![of(0)?.into(), of(1)?.into()])
            }
            "mixed" => {
                let (l, r) = key.split_once(',')?;
                let a = list(tokens::dtype(l)?, oracle.pair("inputs_mixed", l, 0)?).ok()?;
                let b = list(tokens::dtype(r)?, oracle.pair("inputs_mixed", r, 1)?).ok()?;
                (vec![l, r], vec![a.into(), b.into()])
            }
            "mixed_z" => {
                let (l, r) = key.split_once(',')?;
                let a = list(tokens::dtype(l)?, oracle.pair("inputs_mixed", l, 0)?).ok()?;
                let b = list(tokens::dtype(r)?, oracle.pair("inputs_mixed", r, 0)?).ok()?.select(0, 2).ok()?;
                (vec![l, r], vec![a.into(), b.into()])
            }
            "scalar" => {
                let (l, r) = key.split_once(',')?;
                let a = list(tokens::dtype(l)?, oracle.pair("inputs_mixed", l, 0)?).ok()?;
                (vec![l], vec![a.into(), scalar(r)?.into()])
            }
            "cast" => (
                vec![op, key],
                vec![
                    list(tokens::dtype(op)?, oracle.text("inputs_unary", op)?).ok()?.into(),
                    tokens::dtype(key)?.into(),
                ],
            ),
            "reduction" => {
                let dtype = tokens::dtype(key.split_once(',')?.0)?;
                (vec![key.split_once(',')?.0], vec![list(dtype, oracle.text("inputs_reduction", key)?).ok()?.into()])
            }
            _ => return None,
        })
    };
    let Some((codes, operands)) = built() else { return Outcome::Differs("the row has another form".to_owned()) };
    let shell = codes.iter().any(|code| tokens::dtype(code).is_some_and(DType::is_shell));
    let (op, called) = if part == "cast" { ("cast", "to") } else { (op, op) };
    let raised = is_error(elements);
    if let Some(error) = vector_raised {
        return one_by_one(oracle, op, &operands, [error, code, elements], &unstable);
    }
    match oracle.call(called, &operands) {
        Err(Outcome::Differs(_)) if raised => Outcome::Agrees,
        Err(Outcome::Differs(_)) if shell && part != "cast" => {
            Outcome::Aside("shell dtypes (u16, u32, u64, float8, float4) have no arithmetic")
        }
        Err(Outcome::Differs(why)) if why.contains("does not fit") && part == "scalar" => {
            Outcome::Aside("an integer scalar out of the dtype's range is refused")
        }
        Err(outcome) => outcome,
        Ok(None) => Outcome::Unsupported(format!("{op} (several results)")),
        Ok(Some(_)) if raised => {
            let category = oracle.json["errors"][elements][1].as_str().unwrap_or("");
            if category == "NOTIMPL" {
                Outcome::Beyond
            } else {
                Outcome::Differs(format!("PyTorch refuses it ({elements})"))
            }
        }
        Ok(Some(_)) if matches!(op, "any" | "all") && codes == ["u8"] => {
            Outcome::Aside("any and all give bool for u8, too")
        }
        Ok(Some(got)) => {
            let (codes, lists): (Vec<&str>, Vec<&str>) = (code.split('/').collect(), elements.split(" | ").collect());
            if got.len() != codes.len() || got.len() != lists.len() {
                return Outcome::Differs(format!("{} results, expected {}", got.len(), codes.len()));
            }
            // Which of several equal elements is found is not determined: any of them is right.
            if let ("topk2" | "kthvalue1", [Value::Array(x)], [found, places]) = (op, &operands[..], &got[..]) {
                let there = x.take(places);
                return match (compare(op, found, codes[0], lists[0], &unstable), there) {
                    (Outcome::Agrees, Ok(there)) => compare(op, &there, codes[0], lists[0], &unstable),
                    (Outcome::Agrees, Err(error)) => Outcome::Differs(error.to_string()),
                    (outcome, _) => outcome,
                };
            }
            let each =
                got.iter().zip(codes).zip(lists).map(|((got, code), list)| compare(op, got, code, list, &unstable));
            each.into_iter().find(|outcome| !matches!(outcome, Outcome::Agrees)).unwrap_or(Outcome::Agrees)
        }
    }
}

fn byte_floats(oracle: &Oracle<'_>, part: &str, fields: &[Json]) -> Outcome {
    let _ = oracle;
    let text = |at: usize| fields.get(at).and_then(Json::as_str).unwrap_or("");
    let Some(dtype) = tokens::dtype(text(0)) else { return Outcome::Differs("no such dtype".to_owned()) };
    let (from, to) = if part == "f8_decode" { (dtype, DType::F32) } else { (DType::F32, dtype) };
    let checked = tokens::tensor(from, &[], text(1)).and_then(|x| {
        let got = x.to(to).map_err(|error| error.to_string())?;
        tokens::same(&got, &tokens::tensor(to, &[], text(2))?)
    });
    match checked {
        Ok(()) => Outcome::Agrees,
        Err(error) => Outcome::Differs(error),
    }
}

pub fn all(text: &str, table: &mut Table) -> Result<(), String> {
    let json: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let oracle = Oracle { json: &json, known: ops().map(|op| op.name).collect() };
    for part in ["unary", "binary", "mixed", "mixed_z", "scalar", "cast", "reduction", "f8_decode", "f8_encode"] {
        for fields in json[part].as_array().map_or(&[][..], |rows| rows) {
            let fields = fields.as_array().map_or(&[][..], |fields| &fields[..]);
            let subject = format!("{part} {}", fields.first().and_then(Json::as_str).unwrap_or(""));
            let describe = || {
                let text = Json::Array(fields.to_vec()).to_string();
                format!("{part} {}", text.chars().take(160).collect::<String>())
            };
            table.row(&subject, describe, || match part {
                "f8_decode" | "f8_encode" => byte_floats(&oracle, part, fields),
                _ => row(&oracle, part, fields),
            });
        }
    }
    Ok(())
}
