//! `sparse.json`: expressions over sparse tensors, evaluated by `AnySparse`.

use crate::report::{Outcome, Table};
use crate::tokens;
use castiron::any::{AnySparse, Args, Value, call};
use castiron::{AnyTensor, Complex, DType, ScalarValue};
use serde_json::{Value as Json, json};

/// The value of an expression.
#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "a handful are there at once")]
enum Is {
    Sparse(AnySparse),
    Dense(AnyTensor),
    Number(ScalarValue),
    List(Vec<Is>),
    Type(DType),
}

/// Why an expression has no value.
enum Why {
    /// castiron refuses it.
    Refused(String),
    /// There is no such operation; in typed code this is a compiler error.
    Absent(String),
}
type Given = Result<Is, Why>;

impl From<castiron::Error> for Why {
    fn from(error: castiron::Error) -> Self {
        Why::Refused(error.to_string())
    }
}
fn absent<T>(what: &str) -> Result<T, Why> {
    Err(Why::Absent(what.to_owned()))
}

/// A reader of Python expressions: arithmetic, calls, attributes and lists.
struct Reader<'a> {
    rest: &'a str,
    fixtures: &'a Json,
}

impl<'a> Reader<'a> {
    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        let taken = rest.strip_prefix(token);
        self.rest = taken.unwrap_or(rest);
        taken.is_some()
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.')).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        word
    }

    fn sum(&mut self) -> Given {
        let mut left = self.product()?;
        loop {
            let op = if self.take("+") {
                "+"
            } else if self.take("-") {
                "-"
            } else {
                return Ok(left);
            };
            left = combined(op, left, self.product()?)?;
        }
    }

    fn product(&mut self) -> Given {
        let mut left = self.signed()?;
        loop {
            let Some(op) = ["**", "//", "*", "/", "@", "%", "==", "<", ">"].into_iter().find(|op| self.take(op)) else {
                return Ok(left);
            };
            left = combined(op, left, self.signed()?)?;
        }
    }

    fn signed(&mut self) -> Given {
        if !self.take("-") {
            return self.postfix();
        }
        Ok(match self.postfix()? {
            Is::Sparse(x) => Is::Sparse(x.neg()?),
            Is::Dense(x) => Is::Dense(x.neg()?),
            Is::Number(ScalarValue::Int(x)) => Is::Number(ScalarValue::Int(-x)),
            Is::Number(x) => Is::Number(ScalarValue::Float(-x.real_part())),
            _ => return absent("-"),
        })
    }

    fn postfix(&mut self) -> Given {
        let mut value = self.atom()?;
        while self.take(".") {
            let name = self.word();
            if !self.take("(") {
                return absent(name);
            }
            let arguments = self.arguments(")")?;
            value = method(name, value, &arguments)?;
        }
        if self.take("[") { absent("[…]") } else { Ok(value) }
    }

    fn atom(&mut self) -> Given {
        if self.take("(") {
            let mut items = self.arguments(")")?;
            return Ok(match items.pop() {
                Some((_, one)) if items.is_empty() => one,
                Some(last) => Is::List(items.into_iter().chain([last]).map(|(_, item)| item).collect()),
                None => Is::List(Vec::new()),
            });
        }
        if self.take("[") {
            return Ok(Is::List(self.arguments("]")?.into_iter().map(|(_, item)| item).collect()));
        }
        let word = self.word();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return number(word).map_or_else(|| absent(word), |number| Ok(Is::Number(number)));
        }
        // Methods on a name; there are no functions of modules.
        if let Some((name, rest)) = word.split_once('.')
            && self.fixtures.get(name).is_some()
        {
            let value = self.fixture(name)?;
            if !self.take("(") {
                return absent(rest);
            }
            let arguments = self.arguments(")")?;
            return method(rest, value, &arguments);
        }
        match word {
            "True" | "False" => return Ok(Is::Number(ScalarValue::Bool(word == "True"))),
            _ if self.fixtures.get(word).is_some() => return self.fixture(word),
            _ => {}
        }
        if self.take("(") {
            let arguments = self.arguments(")")?;
            return function(word, &arguments);
        }
        let dtype = word.strip_prefix("torch.").and_then(|name| name.parse().ok());
        dtype.map_or_else(|| absent(word), |dtype| Ok(Is::Type(dtype)))
    }

    fn fixture(&self, name: &str) -> Given {
        let code = self.fixtures[name].as_str().unwrap_or("");
        Reader { rest: code, fixtures: &Json::Null }.sum()
    }

    /// Arguments up to a bracket, some of them with names.
    fn arguments(&mut self, close: &str) -> Result<Vec<(&'a str, Is)>, Why> {
        let mut arguments = Vec::new();
        while !self.take(close) {
            let before = self.rest;
            let name = self.word();
            let named = !name.is_empty()
                && self.rest.trim_start().starts_with('=')
                && !self.rest.trim_start().starts_with("==");
            if named {
                self.take("=");
            } else {
                self.rest = before;
            }
            arguments.push((if named { name } else { "" }, self.sum()?));
            if !self.take(",") && !self.rest.trim_start().starts_with(close) {
                return absent(self.rest);
            }
        }
        Ok(arguments)
    }
}

/// `3`, `3.`, `2.5`, `2j`
fn number(word: &str) -> Option<ScalarValue> {
    if let Some(imaginary) = word.strip_suffix('j') {
        return Some(ScalarValue::Complex(Complex::new(0.0, imaginary.parse().ok()?)));
    }
    match word.parse::<i128>() {
        Ok(int) => Some(ScalarValue::Int(int)),
        Err(_) => word.parse().ok().map(ScalarValue::Float),
    }
}

fn combined(op: &str, left: Is, right: Is) -> Given {
    use Is::{Dense, Number, Sparse};
    Ok(match (op, left, right) {
        ("+", Sparse(a), Sparse(b)) => Sparse(a.add(&b)?),
        ("-", Sparse(a), Sparse(b)) => Sparse(a.sub(&b)?),
        ("*", Sparse(a), Sparse(b)) => Sparse(a.mul(&b)?),
        ("@", Sparse(a), Sparse(b)) => Sparse(a.matmul_sparse(&b)?),
        ("+", Sparse(a), Dense(b)) | ("+", Dense(b), Sparse(a)) => Dense(a.add_dense(&b)?),
        ("*", Sparse(a), Dense(b)) | ("*", Dense(b), Sparse(a)) => Sparse(a.mul_dense(&b)?),
        ("*", Sparse(a), Number(b)) => Sparse(a.mul_dense(b)?),
        ("/", Sparse(a), Number(b)) => Sparse(a.div(b)?),
        ("/", Sparse(a), Dense(b)) => Sparse(a.div(&b)?),
        ("@", Sparse(a), Dense(b)) => Dense(a.matmul(&b)?),
        // Complex literals.
        ("+", Number(a), Number(ScalarValue::Complex(b))) => {
            Number(ScalarValue::Complex(Complex::new(a.real_part(), b.im)))
        }
        ("-", Number(a), Number(ScalarValue::Complex(b))) => {
            Number(ScalarValue::Complex(Complex::new(a.real_part(), -b.im)))
        }
        _ => return absent(op),
    })
}

fn conversion(name: &str) -> Option<DType> {
    Some(match name {
        "double" => DType::F64,
        "half" => DType::F16,
        "float" => DType::F32,
        "bool" => DType::Bool,
        "int" => DType::I32,
        "long" => DType::I64,
        _ => return None,
    })
}

fn method(name: &str, value: Is, arguments: &[(&str, Is)]) -> Given {
    use Is::{Dense, Number, Sparse, Type};
    Ok(match (name, &value, arguments) {
        ("t", Sparse(x), []) => Sparse(x.t()?),
        ("coalesce", Sparse(x), []) => Sparse(x.coalesce()?),
        ("to_dense", Sparse(x), []) => Dense(x.to_dense()?),
        ("clone", Sparse(x), []) => Sparse(x.clone()),
        ("sum", Sparse(x), []) => Dense(x.sum()?),
        ("sum", Sparse(x), [(_, Number(ScalarValue::Int(dim)))]) => Sparse(x.sum_axis(*dim as i64)?),
        ("transpose", Sparse(x), [(_, Number(ScalarValue::Int(a))), (_, Number(ScalarValue::Int(b)))]) => {
            Sparse(x.transpose(*a as i64, *b as i64)?)
        }
        ("permute", Sparse(x), dims) => Sparse(x.permute(&ints(dims)?)?),
        ("unsqueeze", Sparse(x), [(_, Number(ScalarValue::Int(dim)))]) => Sparse(x.unsqueeze(*dim as i64)?),
        ("narrow_copy", Sparse(x), dims) => match ints(dims)?[..] {
            [dim, start, length] => Sparse(x.narrow(dim, start, length as usize)?),
            _ => return absent(name),
        },
        ("indices", Sparse(x), []) => Dense(x.indices()?),
        ("values", Sparse(x), []) => Dense(x.values()?),
        ("_indices", Sparse(x), []) => Dense(x.raw_indices()?),
        ("_values", Sparse(x), []) => Dense(x.raw_values()?),
        ("_nnz", Sparse(x), []) => Number(ScalarValue::Int(x.nnz() as i128)),
        ("to", Sparse(x), [(_, Type(dtype))]) => Sparse(x.to(*dtype)?),
        ("to", Dense(x), [(_, Type(dtype))]) => Dense(x.to(*dtype)?),
        ("to_sparse", Dense(x), []) => Sparse(x.to_sparse(0)?),
        ("to_sparse", Dense(x), [(_, Number(ScalarValue::Int(sparse)))]) => {
            Sparse(x.to_sparse(x.rank().saturating_sub(*sparse as usize))?)
        }
        ("reshape", Dense(x), sizes) => Dense(x.reshape(&ints(sizes)?)?),
        (name, x, []) => match (conversion(name), x) {
            (Some(dtype), Sparse(x)) => Sparse(x.to(dtype)?),
            (Some(dtype), Dense(x)) => Dense(x.to(dtype)?),
            (None, Sparse(_)) => return applied(name, value),
            _ => return absent(name),
        },
        _ => return absent(name),
    })
}

/// A function that maps zero to zero.
fn applied(name: &str, x: Is) -> Given {
    let Is::Sparse(x) = x else { return absent(name) };
    Ok(Is::Sparse(match name {
        "abs" => x.abs()?,
        "sin" => x.sin()?,
        "sqrt" => x.sqrt()?,
        "relu" => x.relu()?,
        "sign" => x.sign()?,
        "neg" => x.neg()?,
        "isnan" => x.isnan()?,
        _ => return absent(name),
    }))
}

fn ints(items: &[(&str, Is)]) -> Result<Vec<i64>, Why> {
    let one = |item: &Is| match item {
        Is::Number(ScalarValue::Int(int)) => Ok(*int as i64),
        _ => absent("sizes"),
    };
    match items {
        [(_, Is::List(items))] => items.iter().map(one).collect(),
        items => items.iter().map(|(_, item)| one(item)).collect(),
    }
}

fn sizes(of: &Is) -> Result<Vec<usize>, Why> {
    let ints = ints(&[("", of.clone())])?;
    ints.into_iter().map(|size| usize::try_from(size).map_err(|_| Why::Refused(format!("size {size}")))).collect()
}

fn value_of(x: &Is) -> Result<Value, Why> {
    Ok(match x {
        Is::Number(number) => (*number).into(),
        Is::List(items) => Value::List(items.iter().map(value_of).collect::<Result<_, _>>()?),
        Is::Type(dtype) => (*dtype).into(),
        Is::Dense(x) => x.into(),
        Is::Sparse(_) => return absent("a sparse tensor among the arguments"),
    })
}

fn function(name: &str, arguments: &[(&str, Is)]) -> Given {
    let positional: Vec<&Is> = arguments.iter().filter(|(name, _)| name.is_empty()).map(|(_, value)| value).collect();
    let keyword = |name: &str| arguments.iter().find(|(given, _)| *given == name).map(|(_, value)| value);
    let tensor = |data: &Is| -> Result<AnyTensor, Why> {
        match data {
            Is::Dense(x) => Ok(x.clone()),
            data => Ok(call("tensor", &Args::new().arg(value_of(data)?))?.tensor()?),
        }
    };
    let is_plain = arguments.iter().all(|(name, _)| matches!(*name, "" | "dtype"));
    match (name, &positional[..]) {
        ("S", [indices, values, rest @ ..]) if is_plain => {
            let given = rest.first().map(|of| sizes(of)).transpose()?;
            Ok(Is::Sparse(AnySparse::new(&tensor(indices)?, &tensor(values)?, given.as_deref())?))
        }
        ("C", [indices, values, rest @ ..]) if is_plain => {
            let given = rest.first().map(|of| sizes(of)).transpose()?;
            let mut values = tensor(values)?;
            if let Some(Is::Type(dtype)) = keyword("dtype") {
                values = values.to(*dtype)?;
            }
            Ok(Is::Sparse(AnySparse::new(&tensor(indices)?, &values, given.as_deref())?))
        }
        ("C", [of]) => {
            let dtype = match keyword("dtype") {
                Some(Is::Type(dtype)) => *dtype,
                _ => DType::F32,
            };
            let of = sizes(of)?;
            let indices = AnyTensor::zeros(&[of.len(), 0], DType::I64)?;
            Ok(Is::Sparse(AnySparse::new(&indices, &AnyTensor::zeros(&[0], dtype)?, Some(&of))?))
        }
        ("abs" | "torch.abs", [x]) => applied("abs", (*x).clone()),
        ("torch.sparse.sum", [Is::Sparse(x), Is::Number(ScalarValue::Int(dim))]) => {
            Ok(Is::Sparse(x.sum_axis(*dim as i64)?))
        }
        ("torch.cat" | "torch.stack", [Is::List(items), dim @ ..]) => {
            let dim = match dim {
                [Is::Number(ScalarValue::Int(dim))] => *dim as i64,
                _ => 0,
            };
            let tensors: Option<Vec<&AnySparse>> =
                items.iter().map(|item| if let Is::Sparse(x) = item { Some(x) } else { None }).collect();
            let Some(tensors) = tensors else { return absent("strided tensors among sparse ones") };
            Ok(Is::Sparse(if name == "torch.cat" {
                AnySparse::cat(&tensors, dim)?
            } else {
                AnySparse::stack(&tensors, dim)?
            }))
        }
        ("torch.mm" | "torch.sparse.mm" | "torch.matmul", [a, b]) => combined("@", (*a).clone(), (*b).clone()),
        _ => {
            let Some(name) = name.strip_prefix("torch.") else { return absent(name) };
            if let [x @ Is::Sparse(_)] = positional[..] {
                return applied(name, x.clone());
            }
            let mut args = Args::new();
            for (given, value) in arguments {
                let value = value_of(value)?;
                args = if given.is_empty() { args.arg(value) } else { args.named(given, value) };
            }
            if !matches!(name, "tensor" | "ones" | "zeros" | "arange") {
                return absent(name);
            }
            Ok(Is::Dense(call(name, &args)?.tensor()?))
        }
    }
}

fn floats(x: f64) -> Json {
    match x {
        x if x.is_nan() => json!("nan"),
        x if x.is_infinite() => json!(if x > 0.0 { "inf" } else { "-inf" }),
        x => json!(x),
    }
}

/// The elements in nested lists.
fn elements(x: &AnyTensor) -> castiron::Result<Json> {
    let scalar = |value: &ScalarValue| match *value {
        ScalarValue::Bool(x) => json!(x),
        ScalarValue::Int(x) => json!(x as i64),
        ScalarValue::Float(x) => floats(x),
        ScalarValue::Complex(z) => json!({ "re": floats(z.re), "im": floats(z.im) }),
        other => unreachable!("the table has no {other:?}"),
    };
    fn nested(elements: &[Json], sizes: &[usize]) -> Json {
        match sizes {
            [] => elements[0].clone(),
            [size, rest @ ..] => {
                let step: usize = rest.iter().product();
                (0..*size).map(|at| nested(&elements[at * step..][..step], rest)).collect()
            }
        }
    }
    let all: Vec<Json> = x.to_scalars()?.iter().map(scalar).collect();
    Ok(nested(&all, x.shape()))
}

fn shown(is: &Is) -> castiron::Result<Json> {
    Ok(match is {
        Is::Sparse(x) => json!({
            "layout": "sparse_coo",
            "dtype": tokens::code(x.dtype()),
            "shape": x.shape(),
            "sparse_dim": x.sparse_dim(),
            "dense_dim": x.dense_dim(),
            "nnz": x.nnz(),
            "coalesced": x.is_coalesced(),
            "indices": elements(&x.raw_indices()?)?,
            "indices_dtype": "i64",
            "values": elements(&x.raw_values()?)?,
            "dense": elements(&x.to_dense()?)?,
        }),
        Is::Dense(x) => json!({
            "layout": "strided", "dtype": tokens::code(x.dtype()), "shape": x.shape(), "values": elements(x)?,
        }),
        Is::Number(ScalarValue::Int(x)) => json!({ "py": x.to_string() }),
        _ => Json::Null,
    })
}

/// Whether values are equal; floats may differ by as much as two good implementations of a function.
fn equal(ours: &Json, theirs: &Json) -> bool {
    match (ours, theirs) {
        (Json::Number(a), Json::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= 2e-7 * b.abs(),
            _ => false,
        },
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        (a, b) => a == b,
    }
}

fn case(row: &Json, fixtures: &Json) -> Outcome {
    let (code, expected) = (row["code"].as_str().unwrap_or(""), &row["result"]);
    // Of `A if … else B` this is `A`, except for float4.
    let code = &*match (code.find(" if '"), code.find(",(1,1)")) {
        (Some(start), Some(end)) => format!("{}{}", &code[..start], &code[end..]),
        _ => code.to_owned(),
    };
    let mut reader = Reader { rest: code, fixtures };
    let given = reader.sum().and_then(|is| if reader.rest.trim().is_empty() { Ok(is) } else { absent(reader.rest) });
    let refused = expected.get("error").is_some();
    let shell = ["u16", "u32", "u64", "f8", "f4"]
        .iter()
        .any(|code| row["name"].as_str().is_some_and(|name| name.contains(code)));
    match given {
        Err(_) if refused => Outcome::Agrees,
        Err(Why::Absent(what)) => Outcome::Unsupported(format!("{code} ({what})")),
        Err(Why::Refused(_)) if shell || code.contains("uint16") => {
            Outcome::Aside("shell dtypes (u16, u32, u64, float8, float4) have no arithmetic")
        }
        Err(Why::Refused(why)) if why.contains("index") || why.contains("indices") => {
            Outcome::Aside("indices of sparse tensors are always checked")
        }
        Err(Why::Refused(why)) => Outcome::Differs(format!("refused: {why}; expected {expected}")),
        Ok(_) if refused && code.contains('+') && code.contains("dn") || refused && code.contains("torch.ones") => {
            Outcome::Aside("sparse and strided tensors are added in either order")
        }
        Ok(_) if refused && (shell || code.contains("uint16")) => {
            Outcome::Aside("shell dtypes move, whichever kernels PyTorch has")
        }
        Ok(_) if refused && code.contains("complex32") => Outcome::Beyond,
        Ok(_) if refused => Outcome::Differs("PyTorch refuses it".to_owned()),
        Ok(is) => match shown(&is) {
            Ok(shown) if equal(&shown, expected) => Outcome::Agrees,
            Ok(shown) => Outcome::Differs(format!("{shown}, expected {expected}")),
            Err(error) => Outcome::Differs(error.to_string()),
        },
    }
}

/// A matrix with a single element, in the corner.
fn one(dtype: DType) -> castiron::Result<(AnySparse, AnyTensor)> {
    let (indices, values) = (AnyTensor::zeros(&[2, 1], DType::I64)?, AnyTensor::ones(&[1], dtype)?);
    Ok((AnySparse::new(&indices, &values, Some(&[2, 2]))?, AnyTensor::ones(&[2, 2], dtype)?))
}

/// The result dtype of operations on a pair of dtypes, in the order of the table.
fn promoted(op: usize, a: DType, b: DType) -> Result<DType, Why> {
    let ((s, _), (t, dense)) = (one(a)?, one(b)?);
    Ok(match op {
        0 => s.add(&t)?.dtype(),
        1 => s.mul(&t)?.dtype(),
        2 | 3 => s.add_dense(&dense)?.dtype(),
        4 => s.mul_dense(&dense)?.dtype(),
        5 => s.matmul(&dense)?.dtype(),
        6 => s.matmul_sparse(&t)?.dtype(),
        _ => AnySparse::cat(&[&s, &t], 0)?.dtype(),
    })
}

pub fn all(text: &str, table: &mut Table) -> Result<(), String> {
    const OPS: [&str; 8] = ["s + s", "s * s", "s + dense", "dense + s", "s * dense", "s @ dense", "sparse.mm", "cat"];
    let json: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let rows = |part: &str| json[part].as_array().map_or(&[][..], |rows| rows);
    for row in rows("cases") {
        table.row("cases", || row.to_string(), || case(row, &json["fixtures"]));
    }
    for row in rows("promotion") {
        let code = |at: usize| row[at].as_str().unwrap_or("");
        let (Some(a), Some(b)) = (tokens::dtype(code(0)), tokens::dtype(code(1))) else {
            return Err(format!("no such dtypes: {row}"));
        };
        for (at, op) in OPS.into_iter().enumerate() {
            let expected = code(at + 2);
            table.row(
                op,
                || format!("{op}: {a} and {b}, expected {expected}"),
                || {
                    let wanted = tokens::dtype(expected);
                    let is_missing = json["errors"][expected][1] == "NOTIMPL";
                    match (promoted(at, a, b), wanted) {
                        (Err(Why::Absent(what)), _) => Outcome::Unsupported(format!("{what} of sparse tensors")),
                        (Ok(got), Some(wanted)) if got == wanted => Outcome::Agrees,
                        (Err(_), None) => Outcome::Agrees,
                        (Ok(_), None) if op == "s + dense" => {
                            Outcome::Aside("sparse and strided tensors are added in either order")
                        }
                        (Ok(_), None) if is_missing => Outcome::Beyond,
                        (Ok(got), _) => Outcome::Differs(format!("gives {got}")),
                        (Err(Why::Refused(why)), _) => Outcome::Differs(format!("refused: {why}")),
                    }
                },
            );
        }
    }
    Ok(())
}
