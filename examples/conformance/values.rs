//! `values.json`: elements of results.

use crate::report::{Outcome, Table};
use crate::tokens;
use castiron::any::{Args, Value, alias, call, ops};
use castiron::{AnyTensor, Complex, DType, ScalarValue};
use serde_json::Value as Json;
use std::collections::HashSet;

/// How far transcendental functions may be from PyTorch's, which are some units in the last place off themselves.
fn tolerance(op: &str, dtype: DType) -> (f64, f64) {
    match dtype {
        // PyTorch adds and halves in the dtype.
        DType::F16 if op == "special_ndtr" => (2e-3, 1e-3),
        DType::BF16 if op == "special_ndtr" => (1.6e-2, 8e-3),
        DType::F16 | DType::C32 => (2e-3, 1e-6),
        DType::BF16 => (1.6e-2, 1e-38),
        DType::F32 | DType::C64 => (2e-6, 1e-38),
        _ => (1e-13, 1e-300),
    }
}

fn list(dtype: DType, text: &str) -> Result<AnyTensor, String> {
    // The parts of complex elements stand together.
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

/// The name an operation of the table is called by.
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

    /// Calls an operation on each element where the whole raised, as the table does.
    fn call(&self, op: &str, args: &Args) -> Result<Option<AnyTensor>, Outcome> {
        let (name, args) = match op {
            "div_floor" => ("div".to_owned(), args.clone().named("rounding_mode", "floor")),
            "div_trunc" => ("div".to_owned(), args.clone().named("rounding_mode", "trunc")),
            _ => (name_of(op), args.clone()),
        };
        if !self.known.contains(&*name) && alias(&name).is_none() {
            return Err(Outcome::Unsupported(op.to_owned()));
        }
        let args = if op == "flip" { args.arg(0_i64) } else { args };
        match call(&name, &args) {
            Ok(Value::Array(tensor)) => Ok(Some(tensor)),
            Ok(Value::List(_)) | Ok(_) => Ok(None),
            Err(error) => Err(Outcome::Differs(format!("refused: {error}"))),
        }
    }
}

/// Compares elements, those left out of the comparison excepted.
fn compare(op: &str, got: &AnyTensor, code: &str, text: &str, unstable: &HashSet<usize>) -> Outcome {
    let Some(dtype) = tokens::dtype(code) else { return Outcome::Differs(format!("no such dtype: {code}")) };
    if got.dtype() != dtype {
        return Outcome::Differs(format!("gives {}, expected {dtype}", got.dtype()));
    }
    let tokens: Vec<&str> = text.split_ascii_whitespace().collect();
    let got = match got.reshape(&[-1]) {
        Ok(got) => got,
        Err(_) if got.is_empty() && tokens.is_empty() => return Outcome::Agrees,
        Err(error) => return Outcome::Differs(error.to_string()),
    };
    let raised = |token: &str| token.starts_with('E') && token[1..].chars().all(|c| c.is_ascii_digit());
    let elements: Vec<Option<&str>> = tokens.iter().map(|&token| (!raised(token)).then_some(token)).collect();
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
        let Some(text) = element else { return Outcome::Aside("some elements raise, which whole tensors do here") };
        if unstable.contains(&at) {
            continue;
        }
        let one = got.select(0, at as i64).map_err(|error| error.to_string());
        let checked = one.and_then(|one| {
            let wanted = crate::tokens::tensor(dtype, &[], text)?;
            let (rtol, atol) = tolerance(op, dtype);
            if exact { tokens::same(&one, &wanted) } else { tokens::close(&one, &wanted, rtol, atol) }
        });
        if let Err(error) = checked {
            return Outcome::Differs(format!("at {at}: {error}"));
        }
    }
    Outcome::Agrees
}

fn row(oracle: &Oracle<'_>, part: &str, fields: &[Json]) -> Outcome {
    let text = |at: usize| fields.get(at).and_then(Json::as_str).unwrap_or("");
    let (op, key, code, elements) = (text(0), text(1), text(2), text(3));
    let unstable: HashSet<usize> = fields
        .get(4)
        .and_then(Json::as_array)
        .map(|list| list.iter().filter_map(Json::as_u64).map(|at| at as usize).collect())
        .unwrap_or_default();
    if fields.get(4).is_some_and(Json::is_string) || fields.get(5).is_some_and(Json::is_string) {
        return Outcome::Aside("some elements raise, which whole tensors do here");
    }
    let built = || -> Option<(Vec<&str>, Args)> {
        Some(match part {
            "unary" => (vec![key], Args::new().arg(list(tokens::dtype(key)?, oracle.text("inputs_unary", key)?).ok()?)),
            "binary" => {
                let dtype = tokens::dtype(key)?;
                let of = |at| list(dtype, oracle.pair("inputs_binary", key, at)?).ok();
                (vec![key], Args::new().arg(of(0)?).arg(of(1)?))
            }
            "mixed" => {
                let (l, r) = key.split_once(',')?;
                let a = list(tokens::dtype(l)?, oracle.pair("inputs_mixed", l, 0)?).ok()?;
                let b = list(tokens::dtype(r)?, oracle.pair("inputs_mixed", r, 1)?).ok()?;
                (vec![l, r], Args::new().arg(a).arg(b))
            }
            "mixed_z" => {
                let (l, r) = key.split_once(',')?;
                let a = list(tokens::dtype(l)?, oracle.pair("inputs_mixed", l, 0)?).ok()?;
                let b = list(tokens::dtype(r)?, oracle.pair("inputs_mixed", r, 0)?).ok()?.select(0, 2).ok()?;
                (vec![l, r], Args::new().arg(a).arg(b))
            }
            "scalar" => {
                let (l, r) = key.split_once(',')?;
                let a = list(tokens::dtype(l)?, oracle.pair("inputs_mixed", l, 0)?).ok()?;
                (vec![l], Args::new().arg(a).arg(scalar(r)?))
            }
            "cast" => (
                vec![op, key],
                Args::new()
                    .arg(list(tokens::dtype(op)?, oracle.text("inputs_unary", op)?).ok()?)
                    .arg(tokens::dtype(key)?),
            ),
            "reduction" => {
                let dtype = tokens::dtype(key.split_once(',')?.0)?;
                (
                    vec![key.split_once(',')?.0],
                    Args::new().arg(list(dtype, oracle.text("inputs_reduction", key)?).ok()?),
                )
            }
            _ => return None,
        })
    };
    // Calls whose other arguments the table does not say.
    let unsaid = matches!((part, op), ("scalar", "where") | ("reduction", "trace" | "mm" | "quantile" | "nanquantile"));
    if unsaid {
        return Outcome::Unsupported(format!("{part} {op} (its arguments)"));
    }
    let Some((codes, args)) = built() else { return Outcome::Differs("the row has another form".to_owned()) };
    let shell = codes.iter().any(|code| tokens::dtype(code).is_some_and(DType::is_shell));
    let (op, called) = if part == "cast" { ("cast", "to") } else { (op, op) };
    let called = match called {
        "rsub_scalar" => "rsub",
        other => other,
    };
    let raised = elements.starts_with('E') && elements[1..].chars().all(|c| c.is_ascii_digit());
    match oracle.call(called, &args) {
        Err(Outcome::Differs(_)) if raised => Outcome::Agrees,
        Err(Outcome::Differs(_)) if shell && part != "cast" => {
            Outcome::Aside("shell dtypes (u16, u32, u64, float8, float4) have no arithmetic")
        }
        Err(Outcome::Differs(why)) if why.contains("does not fit") && part == "scalar" => {
            Outcome::Aside("an integer scalar out of the dtype's range is refused")
        }
        Err(Outcome::Differs(why)) if why.contains("by zero") && elements.contains('E') => Outcome::Agrees,
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
        Ok(Some(got)) if matches!(op, "any" | "all") && codes == ["u8"] => {
            let _ = got;
            Outcome::Aside("any and all give bool for u8, too")
        }
        Ok(Some(got)) => compare(op, &got, code, elements, &unstable),
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
