//! `grad_samples.json`: gradients of PyTorch's own test samples, called by name.

use crate::json::value;
use crate::report::{Outcome, Table};
use crate::{json, tokens};
use castiron::any::{self, Args, GradOptions, Value, call, ops};
use castiron::{AnyTensor, DType};
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashSet};

/// Where tensors are computed with: on the host, or moved to another device.
pub type Place<'a> = &'a dyn Fn(&AnyTensor) -> castiron::Result<AnyTensor>;

/// An argument with its tensors at their place.
fn placed(of: Value, place: Place<'_>) -> Result<Value, String> {
    Ok(match of {
        Value::Array(x) => place(&x).map_err(|error| error.to_string())?.into(),
        Value::List(list) => Value::List(list.into_iter().map(|of| placed(of, place)).collect::<Result<_, _>>()?),
        other => other,
    })
}

/// An argument in which the tensors on the paths require gradients.
fn argument(of: &Json, paths: &[(&[Json], &AnyTensor)], place: Place<'_>) -> Result<Value, String> {
    if let Some((_, leaf)) = paths.iter().find(|(path, _)| path.is_empty()) {
        return Ok(Value::from(*leaf));
    }
    let (Some(list), false) = (of.as_array(), paths.is_empty()) else { return placed(value(of)?, place) };
    let inner = |at: usize| -> Vec<(&[Json], &AnyTensor)> {
        let here = |path: &&(&[Json], &AnyTensor)| path.0[0].as_u64() == Some(at as u64);
        paths.iter().filter(here).map(|(path, leaf)| (&path[1..], *leaf)).collect()
    };
    let values = list.iter().enumerate().map(|(at, of)| argument(of, &inner(at), place));
    Ok(Value::List(values.collect::<Result<_, _>>()?))
}

fn arguments(
    row: &Json,
    leaves: &[(&[Json], &AnyTensor)],
    alone: Option<AnyTensor>,
    is_swapped: bool,
    place: Place<'_>,
) -> Result<Args, String> {
    let below = |part: &str, key: &Json| -> Vec<(&[Json], &AnyTensor)> {
        let here = |path: &&(&[Json], &AnyTensor)| path.0[0] == part && path.0[1] == *key;
        leaves.iter().filter(here).map(|(path, leaf)| (&path[2..], *leaf)).collect()
    };
    let list = row["args"].as_array().ok_or("no arguments")?.iter().enumerate();
    let mut values =
        list.map(|(at, of)| argument(of, &below("args", &at.into()), place)).collect::<Result<Vec<_>, _>>()?;
    if is_swapped {
        values.swap(0, 1);
    }
    if let Some(alone) = alone {
        values = vec![alone.into()];
    }
    let mut args = values.into_iter().fold(Args::new(), Args::arg);
    for (name, of) in row["kwargs"].as_object().ok_or("no named arguments")? {
        args = args.named(name, argument(of, &below("kwargs", &name.as_str().into()), place)?);
    }
    Ok(args)
}

/// The tensor at a path.
fn at<'a>(row: &'a Json, path: &[Json]) -> &'a Json {
    path.iter().fold(row, |of, key| match key.as_str() {
        Some(name) => &of[name],
        None => &of[key.as_u64().unwrap_or(0) as usize],
    })
}

/// The tensors of a result, in order.
fn tensors(result: &Value, all: &mut Vec<AnyTensor>) {
    match result {
        Value::Array(x) => all.push(x.clone()),
        Value::List(list) => list.iter().for_each(|of| tensors(of, all)),
        _ => {}
    }
}

/// The gradient that enters by a result: `w(i)`.
fn seed(of: &AnyTensor) -> castiron::Result<AnyTensor> {
    let part = |by: u64, first: u64| -> castiron::Result<AnyTensor> {
        let number = |at: usize| (((by * at as u64 + first) % 64) as f64 - 31.5) / 32.0;
        let numbers: Vec<f64> = (0..of.numel()).map(number).collect();
        let sizes: Vec<i64> = of.shape().iter().map(|&size| size as i64).collect();
        let count = numbers.len();
        let list = castiron::Tensor::<f64, castiron::shape![_]>::from_vec_sized(numbers, [count]);
        AnyTensor::from(list).reshape(&sizes)
    };
    let re = part(37, 11)?;
    if !of.dtype().is_complex() {
        return re.to(of.dtype());
    }
    let im = part(29, 5)?.to(DType::C128)?.mul(castiron::Complex::new(0.0, 1.0))?;
    re.to(DType::C128)?.add(&im)?.to(of.dtype())
}

/// What went wrong.
#[derive(Debug)]
pub enum Wrong {
    /// An operation is refused.
    Refused(String),
    Differs(String),
}
fn differs(error: impl ToString) -> Wrong {
    Wrong::Differs(error.to_string())
}
fn refused(error: castiron::Error) -> Wrong {
    Wrong::Refused(error.to_string())
}

/// The seed for real eigenvectors, whose signs are arbitrary: that of PyTorch's eigenvectors, with the signs of these.
fn turned(seed: &AnyTensor, vectors: &AnyTensor, theirs: &Json) -> Result<AnyTensor, String> {
    let text = |error: castiron::Error| error.to_string();
    let products = vectors.detach().cpu().map_err(text)?.mul(&json::tensor(theirs)?).map_err(text)?;
    let along = Args::new().arg(products).arg(vec![-2_i64]).named("keepdim", true);
    let mut dots = Vec::new();
    tensors(&call("sum", &along).map_err(text)?, &mut dots);
    seed.mul(&dots[0].sign().map_err(text)?).map_err(text)
}

fn paths(row: &Json) -> Vec<&Vec<Json>> {
    row["wrt"].as_array().into_iter().flatten().filter_map(Json::as_array).collect()
}

/// The results of a sample by which gradients enter, computed from these leaves.
fn outputs(row: &Json, op: &str, leaves: &[AnyTensor], place: Place<'_>) -> Result<Vec<AnyTensor>, Wrong> {
    let paths = paths(row);
    let named: Vec<(&[Json], &AnyTensor)> = paths.iter().zip(leaves).map(|(path, leaf)| (&path[..], leaf)).collect();
    // Samples of these are given to functions of their own: of the product of two matrices, and with the weight first.
    let is_of_product = op == "linalg.pinv" && leaves.len() == 2 || op == "svd_lowrank";
    let product = is_of_product.then(|| leaves[1].transpose(-2, -1).and_then(|other| leaves[0].matmul(&other)));
    let has_weight_first = op == "nn.functional.embedding_bag" && row["args"][0]["t"] != "i64";
    let args =
        arguments(row, &named, product.transpose().map_err(refused)?, has_weight_first, place).map_err(differs)?;
    let result = call(op, &args).map_err(refused)?;
    let mut outputs = Vec::new();
    tensors(&result, &mut outputs);
    let enters = row["differentiable"].as_array().map_or(&[][..], |list| list);
    if op == "linalg.lstsq" {
        // Not all of the results are compared.
        outputs.truncate(enters.len());
    }
    if outputs.len() != enters.len() {
        return Err(differs(format!("{} results, expected {}", outputs.len(), enters.len())));
    }
    let outputs = outputs.into_iter().zip(enters).filter(|(_, enters)| **enters == true).map(|(output, _)| output);
    // PyTorch gives zeros where nothing depends on the input; here such a result requires no gradient.
    Ok(outputs.filter(AnyTensor::requires_grad).collect())
}

/// Whether the gradients of a sample are PyTorch's.
pub fn run(row: &Json, op: &str, place: Place<'_>) -> Result<(), Wrong> {
    let paths = paths(row);
    let mut leaves = Vec::new();
    for path in &paths {
        let mut leaf = place(&json::tensor(at(row, path)).map_err(differs)?).map_err(differs)?;
        leaf.requires_grad_(true).map_err(differs)?;
        leaves.push(leaf);
    }
    let outputs = outputs(row, op, &leaves, place)?;
    let wanted = row["grads"].as_array().ok_or_else(|| differs("no gradients"))?;
    let is_zero = |of: &Json| -> Result<bool, Wrong> {
        let numbers = tokens::numbers(&json::tensor(of).map_err(differs)?).map_err(differs)?;
        Ok(numbers.iter().all(|&x| x == 0.0))
    };
    let grads = if outputs.is_empty() {
        vec![None; leaves.len()]
    } else {
        let mut seeds = outputs.iter().map(|of| place(&seed(of)?)).collect::<Result<Vec<_>, _>>().map_err(differs)?;
        if op == "linalg.eigh" && outputs[1].numel() > 0 {
            let here = seeds[1].cpu().map_err(differs)?;
            let turned = turned(&here, &outputs[1], &row["result"][1]).map_err(differs)?;
            seeds[1] = place(&turned).map_err(differs)?;
        }
        let (outputs, seeds): (Vec<_>, Vec<_>) = (outputs.iter().collect(), seeds.iter().collect());
        let inputs: Vec<&AnyTensor> = leaves.iter().collect();
        let options = GradOptions { seeds: Some(&seeds), allow_unused: true, ..GradOptions::default() };
        any::grad(&outputs, &inputs, &options).map_err(refused)?
    };
    let tolerance = |at: usize| row["tol"][at].as_f64().unwrap_or(0.0);
    for ((got, wanted), path) in grads.iter().zip(wanted).zip(&paths) {
        let path = serde_json::to_string(path).unwrap_or_default();
        let got = got.as_ref().map(AnyTensor::cpu).transpose().map_err(differs)?;
        match (got, wanted.is_null()) {
            (None, true) => {}
            (None, false) if is_zero(wanted)? => {}
            (None, false) => return Err(differs(format!("{path}: no gradient comes back"))),
            (Some(got), true) => {
                let numbers = tokens::numbers(&got).map_err(differs)?;
                if numbers.iter().any(|&x| x != 0.0) {
                    return Err(differs(format!("{path}: PyTorch gives no gradient")));
                }
            }
            (Some(got), false) => {
                let wanted = json::tensor(wanted).map_err(differs)?;
                if (got.dtype(), got.shape()) != (wanted.dtype(), wanted.shape()) {
                    return Err(differs(format!("{path}: a gradient of {} {:?}", got.dtype(), got.shape())));
                }
                tokens::close(&got, &wanted, tolerance(0), tolerance(1))
                    .map_err(|error| differs(format!("{path}: {error}")))?;
            }
        }
    }
    Ok(())
}

/// A direction to move an operand in. Operations that read one triangle of a matrix are given a symmetric direction,
/// triangular matrices a triangular one.
fn direction(op: &str, point: &AnyTensor) -> castiron::Result<AnyTensor> {
    let free = seed(point)?;
    let name = op.strip_prefix("linalg.").unwrap_or(op);
    if matches!(name, "cholesky" | "cholesky_ex" | "eigh" | "eigvalsh") {
        return free.add(&free.transpose(-2, -1)?);
    }
    if matches!(name, "cholesky_inverse" | "cholesky_solve") {
        return free.mul(&call("ne", &Args::new().arg(point).arg(0.0))?.tensor()?);
    }
    Ok(free)
}

/// Whether the second derivatives of a sample of `f64`, along a direction, are differences of its first ones. `None` where it has no such
/// leaves.
pub fn second(row: &Json, op: &str) -> Result<Option<()>, Wrong> {
    let here: Place<'_> = &|x| Ok(x.clone());
    let points =
        paths(row).iter().map(|path| json::tensor(at(row, path))).collect::<Result<Vec<_>, _>>().map_err(differs)?;
    // Hermitian matrices of the samples are not symmetric, and the labels of these losses may not be moved.
    let is_aside = row["kwargs"]["hermitian"]["bool"] == true || op == "nn.functional.cosine_embedding_loss";
    if is_aside || points.iter().any(|point| point.dtype() != DType::F64) {
        return Ok(None);
    }
    // A norm has a kink at zeros.
    for point in &points {
        if op.ends_with("norm")
            && !op.starts_with("nn.")
            && tokens::numbers(point).map_err(differs)?.iter().all(|&x| x == 0.0)
        {
            return Ok(None);
        }
    }
    let directions = points.iter().map(|point| direction(op, point)).collect::<Result<Vec<_>, _>>().map_err(differs)?;
    // The gradients, at the points moved along the directions; and what comes back from their products with the directions.
    let gradients = |by: f64, is_twice: bool| -> Result<Option<Vec<Option<AnyTensor>>>, Wrong> {
        let mut leaves = Vec::new();
        for (point, direction) in points.iter().zip(&directions) {
            let mut leaf = point.add(&direction.mul(by).map_err(differs)?).map_err(differs)?;
            leaf.requires_grad_(true).map_err(differs)?;
            leaves.push(leaf);
        }
        let outputs = outputs(row, op, &leaves, here)?;
        if outputs.is_empty() {
            return Ok(None);
        }
        let seeds = outputs.iter().map(seed).collect::<Result<Vec<_>, _>>().map_err(differs)?;
        let (outputs, seeds): (Vec<_>, Vec<_>) = (outputs.iter().collect(), seeds.iter().collect());
        let inputs: Vec<&AnyTensor> = leaves.iter().collect();
        let options =
            GradOptions { seeds: Some(&seeds), allow_unused: true, create_graph: is_twice, ..GradOptions::default() };
        let grads = any::grad(&outputs, &inputs, &options).map_err(refused)?;
        if !is_twice {
            return Ok(Some(grads));
        }
        let both = grads.iter().zip(&directions);
        let (grads, seeds): (Vec<_>, Vec<_>) = both
            .filter_map(|(grad, direction)| Some((grad.as_ref().filter(|grad| grad.requires_grad())?, direction)))
            .unzip();
        if grads.is_empty() {
            return Ok(Some(leaves.iter().map(|_| None).collect()));
        }
        let options = GradOptions { seeds: Some(&seeds), allow_unused: true, ..GradOptions::default() };
        any::grad(&grads, &inputs, &options).map(Some).map_err(refused)
    };
    let step = 1e-5;
    let (Some(seconds), Some(after), Some(before)) =
        (gradients(0.0, true)?, gradients(step, false)?, gradients(-step, false)?)
    else {
        return Ok(None);
    };
    for ((second, after), before) in seconds.iter().zip(&after).zip(&before) {
        let (Some(after), Some(before)) = (after, before) else { continue };
        let wanted = after.sub(before).and_then(|moved| moved.div(2.0 * step)).map_err(differs)?;
        let numbers = |x: &AnyTensor| tokens::numbers(x).map_err(differs);
        let wanted = numbers(&wanted)?;
        let got = second.as_ref().map_or_else(|| Ok(vec![0.0; wanted.len()]), numbers)?;
        let largest = wanted.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
        for (at, (got, wanted)) in got.iter().zip(&wanted).enumerate() {
            if (got - wanted).abs() > 1e-4 * largest && !(got.is_nan() && wanted.is_nan()) {
                return Err(differs(format!("{got} at {at}, the difference is {wanted}")));
            }
        }
    }
    Ok(Some(()))
}

/// Operations of the table that castiron refuses to record, for some samples at least. The refusal of any other is a difference.
pub const REFUSED: [&str; 4] = ["nextafter", "nn.functional.embedding_bag", "nn.functional.rms_norm", "svd_lowrank"];

/// Operations with samples that have no second derivatives, and why.
const WITHOUT_SECOND: [(&str, &str); 5] = [
    ("nn.functional.grid_sample", "the host computes its way back; PyTorch has none either"),
    ("nn.functional.multi_margin_loss", "the same"),
    ("nn.functional.multilabel_margin_loss", "the same"),
    ("prod", "not where elements are 0"),
    ("cumprod", "the same"),
];

/// Whether the gradient at NaN depends on where the element is.
pub fn depends_on_place(row: &Json, op: &str) -> bool {
    let name = op.strip_prefix("nn.functional.").unwrap_or("");
    let has_nan = row["args"][0]["v"].as_str().is_some_and(|elements| elements.contains("7ff8000000000000"));
    has_nan && matches!(name, "elu" | "selu" | "hardshrink" | "relu6")
}

/// Whether the result is random.
pub fn is_random(row: &Json, op: &str) -> bool {
    let trains = row["kwargs"]["training"]["bool"] == true;
    match op {
        "nn.functional.rrelu" => trains,
        "nn.functional.multi_head_attention_forward" => trains && row["args"][10]["float"] != "0000000000000000",
        _ => false,
    }
}

pub fn all(text: &str, table: &mut Table) -> Result<(), String> {
    let json: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let known: HashSet<&str> = ops().map(|op| op.name).collect();
    let has = |name: &str| known.contains(name) || any::alias(name).is_some();
    let mut refusals: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut seconds = 0;
    for row in json["samples"].as_array().ok_or("there are no samples")? {
        let op = row["op"].as_str().unwrap_or("");
        let text = || row.to_string().chars().take(400).collect();
        table.row(op, text, || {
            if !has(op) {
                return Outcome::Unsupported(op.to_owned());
            }
            match run(row, op, &|x| Ok(x.clone())) {
                // (By chance.)
                Ok(()) if is_random(row, op) => Outcome::Aside("PyTorch draws random numbers"),
                Ok(()) => match second(row, op) {
                    Ok(tried) => {
                        seconds += usize::from(tried.is_some());
                        Outcome::Agrees
                    }
                    Err(_) if WITHOUT_SECOND.iter().any(|(name, _)| *name == op) => Outcome::Agrees,
                    Err(error) => Outcome::Differs(format!("second derivatives: {error:?}")),
                },
                Err(_) if is_random(row, op) => Outcome::Aside("PyTorch draws random numbers"),
                Err(Wrong::Differs(_)) if depends_on_place(row, op) => {
                    Outcome::Aside("PyTorch's vector loop and its loop for the rest differ at NaN")
                }
                Err(Wrong::Differs(error)) => Outcome::Differs(error),
                Err(Wrong::Refused(error)) if !REFUSED.contains(&op) => Outcome::Differs(format!("refused: {error}")),
                Err(Wrong::Refused(error)) => {
                    let entry = refusals.entry(op.to_owned()).or_insert((0, error));
                    entry.0 += 1;
                    Outcome::Unsupported(format!("{op} (refused)"))
                }
            }
        });
    }
    table.note(format!("second derivatives of {seconds} samples are differences of first ones"));
    for (op, (count, error)) in refusals {
        table.note(format!("refused: {op} {count}: {error}"));
    }
    Ok(())
}
