//! PyTorch's own samples (`tests/oracle/opinfo_samples.json`), called by name with tensors of the host and of a GPU: both must give the
//! same result, or both refuse.
//!
//! Tests take one sample of each operation. `CASTIRON_ROWS=8` takes up to eight of each, `CASTIRON_DTYPES=f16,c64` (or `all`) adds other
//! dtypes, `CASTIRON_OPS=sort,topk` selects operations.

use crate::{json, on_gpu, tokens};
use castiron::any::{Args, Value, alias, call, call_in_place, call_into, ops};
use castiron::{AnyDevice, AnyTensor, DType, Error};
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::env;
use std::io::Read;

/// What came of a sample.
enum Outcome {
    Same,
    /// Both refuse it.
    Refused,
    /// Only the GPU does, with these words.
    CannotRun(String),
    Differs(String),
}

pub fn table() -> Json {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/opinfo_samples.json.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The tensor on the GPU, with its strides.
fn on_gpu(x: &AnyTensor) -> AnyTensor {
    let sizes_and_strides = || x.shape().iter().zip(x.stride());
    let span = match x.is_empty() {
        true => 0,
        false => 1 + sizes_and_strides().map(|(size, stride)| (size - 1) * stride).sum::<usize>(),
    };
    let span = x.as_strided(&[span], &[1], Some(if span == 0 { 0 } else { x.storage_offset() })).unwrap();
    span.to_device("cuda:0").unwrap().as_strided(x.shape(), x.stride(), Some(0)).unwrap()
}

/// The same value with all tensors on the GPU. (`cpu` where a device is named is the GPU.)
pub fn moved(value: &Value) -> Value {
    match value {
        Value::Array(tensor) => on_gpu(tensor).into(),
        Value::List(values) => Value::List(values.iter().map(moved).collect()),
        Value::Str(name) if name == "cpu" => Value::Str("cuda:0".to_owned()),
        other => other.clone(),
    }
}

pub type Given = (Vec<Value>, Vec<(String, Value)>);

pub fn given(row: &Json) -> Option<Given> {
    let args = row["args"].as_array()?.iter().map(json::value).collect::<Result<_, _>>().ok()?;
    let named = row["kwargs"].as_object()?.iter().map(|(name, of)| Some((name.clone(), json::value(of).ok()?)));
    Some((args, named.collect::<Option<_>>()?))
}

fn has_tensor(value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        Value::List(values) => values.iter().any(has_tensor),
        _ => false,
    }
}

/// How an operation is called.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    New,
    InPlace,
    Into,
}

pub fn arguments(args: &[Value], named: &[(String, Value)], through: impl Fn(&Value) -> Value) -> Args {
    let all = args.iter().fold(Args::new(), |all, value| all.arg(through(value)));
    named.iter().fold(all, |all, (name, value)| all.named(name, through(value)))
}

fn run(form: Form, op: &str, (args, named): &Given, through: impl Fn(&Value) -> Value) -> castiron::Result<Value> {
    match (form, &args[..]) {
        (Form::InPlace, [Value::Array(x), rest @ ..]) => {
            let mut x = through(&x.copy()?.into()).tensor()?;
            call_in_place(op, &mut x, &arguments(rest, named, through))?;
            Ok(x.into())
        }
        (Form::Into, _) => {
            let all = arguments(args, named, through);
            let mut outs = match call(op, &all)? {
                Value::Array(one) => vec![one],
                Value::List(several) => several.into_iter().map(Value::tensor).collect::<castiron::Result<_>>()?,
                other => return Ok(other),
            };
            for out in &mut outs {
                *out = AnyTensor::zeros_on(out.shape(), out.dtype(), out.device())?;
            }
            call_into(op, &all, &mut outs.iter_mut().collect::<Vec<_>>())?;
            Ok(Value::List(outs.into_iter().map(Value::Array).collect()))
        }
        _ => call(op, &arguments(args, named, through)),
    }
}

fn tolerance(dtype: DType) -> f64 {
    match dtype.to_real() {
        DType::F16 => 4e-3,
        DType::BF16 => 3e-2,
        DType::F32 => 2e-5,
        DType::F64 => 1e-11,
        _ => 0.0,
    }
}

/// Whether a result is what the host gave; `is_exact` says whether the values are determined.
fn compare(gpu: &Value, host: &Value, expects_gpu: bool, determined: bool) -> Result<(), String> {
    match (gpu, host) {
        (Value::Array(gpu), Value::Array(host)) => {
            let about = |x: &AnyTensor| (x.dtype(), x.shape().to_vec(), x.stride().to_vec());
            if about(gpu) != about(host) {
                return Err(format!("a tensor of {:?}, on the host {:?}", about(gpu), about(host)));
            }
            if expects_gpu && gpu.device() != AnyDevice::new("cuda:0").unwrap() {
                return Err(format!("the result is on {}", gpu.device()));
            }
            let here = gpu.cpu().map_err(|error| error.to_string())?;
            if !determined {
                return Ok(());
            }
            let within = tolerance(host.dtype());
            if within == 0.0 { tokens::same(&here, host) } else { tokens::close(&here, host, within, within) }
        }
        (Value::List(gpu), Value::List(host)) if gpu.len() == host.len() => {
            gpu.iter().zip(host).try_for_each(|(gpu, host)| compare(gpu, host, expects_gpu, determined))
        }
        (gpu, host) => match format!("{gpu:?}") == format!("{host:?}") {
            true => Ok(()),
            false => Err(format!("{gpu:?}, on the host {host:?}")),
        },
    }
}

fn outcome(form: Form, op: &str, given: &Given, determined: bool, only_refused: bool) -> Outcome {
    let expects_gpu = given.0.iter().chain(given.1.iter().map(|(_, value)| value)).any(has_tensor);
    let host = run(form, op, given, Value::clone);
    if only_refused && host.is_ok() {
        return Outcome::Same;
    }
    match (run(form, op, given, moved), host) {
        (Ok(gpu), Ok(host)) => match compare(&gpu, &host, expects_gpu, determined) {
            Ok(()) => Outcome::Same,
            Err(why) => Outcome::Differs(why),
        },
        (Err(_), Err(_)) => Outcome::Refused,
        (Err(error), Ok(_)) => Outcome::CannotRun(match error {
            Error::CudaFailure { reason, .. } => reason.lines().next().unwrap_or_default().to_owned(),
            error => error.to_string(),
        }),
        (Ok(gpu), Err(error)) => Outcome::Differs(format!("{gpu:?}, refused on the host: {error}")),
    }
}

/// What came of all samples that were run.
#[derive(Default)]
struct Report {
    same: usize,
    refused: usize,
    cannot: BTreeMap<String, Vec<String>>,
    differ: Vec<String>,
}

impl Report {
    fn count(&mut self, about: String, run: impl FnOnce() -> Outcome) {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Outcome::Differs(format!("panicked: {}", text.unwrap_or_default()))
        });
        match outcome {
            Outcome::Same => self.same += 1,
            Outcome::Refused => self.refused += 1,
            Outcome::CannotRun(why) => self.cannot.entry(why).or_default().push(about),
            Outcome::Differs(why) => {
                self.differ.push(format!("{about}: {}", why.chars().take(300).collect::<String>()));
            }
        }
    }

    fn end(self) {
        println!("{} samples are as on the host, {} refused on both", self.same, self.refused);
        self.cannot.iter().for_each(|(why, ops)| println!("cannot run: {why}: {}", ops.join(", ")));
        self.differ.iter().for_each(|row| println!("differs: {row}"));
        assert!(self.differ.is_empty() && self.cannot.is_empty());
    }
}

/// Runs samples of a part of the table in these dtypes: up to `most` of each operation, and only of every `step`-th operation unless
/// operations are chosen.
fn samples_of(part: &str, forms: &[Form], most: usize, dtypes: &str, step: usize) {
    let text = |name: &str, default: &str| env::var(name).unwrap_or(default.to_owned());
    let (chosen, dtypes) = (text("CASTIRON_OPS", ""), text("CASTIRON_DTYPES", dtypes));
    let (most, step) = env::var("CASTIRON_ROWS").map_or((most, step), |text| (text.parse().unwrap(), 1));
    let step = if chosen.is_empty() { step } else { 1 };
    let known: HashSet<&str> = ops().map(|op| op.name).collect();
    let table = table();
    let (mut taken, mut report) = (HashMap::<&str, (usize, usize)>::new(), Report::default());
    for row in table[part].as_array().unwrap() {
        let (op, dtype) = (row["op"].as_str().unwrap(), row["dtype"].as_str().unwrap_or(""));
        let is_chosen = chosen.is_empty() || chosen.split(',').any(|of| of == op);
        let is_known = known.contains(op) || alias(op).is_some();
        if !is_chosen || !is_known || !(dtypes == "all" || dtypes.split(',').any(|of| of == dtype)) {
            continue;
        }
        let seen = taken.len();
        let (at, taken) = taken.entry(op).or_insert((seen, 0));
        *taken += 1;
        if *taken > most || !at.is_multiple_of(step) {
            continue;
        }
        let Some(given) = given(row) else { continue };
        for &form in forms {
            let about = format!("{op} {dtype} {form:?} (sample {taken})");
            report.count(about, || outcome(form, op, &given, row["loose"] != true, part == "errors"));
        }
    }
    report.end();
}

#[test]
fn samples_of_every_operation_run_as_on_the_host() {
    on_gpu!("any::rows::samples_of_every_operation_run_as_on_the_host", ["PRETEND_BLAS_WORKSPACE" = "0"], {
        samples_of("samples", &[Form::New], 1, "f32", 1);
    });
}

#[test]
fn operations_write_where_they_are_told() {
    on_gpu!("any::rows::operations_write_where_they_are_told", ["PRETEND_BLAS_WORKSPACE" = "0"], {
        samples_of("samples", &[Form::InPlace, Form::Into], 1, "f32", 4);
    });
}

#[test]
fn what_pytorch_refuses_is_refused_alike() {
    on_gpu!("any::rows::what_pytorch_refuses_is_refused_alike", ["PRETEND_BLAS_WORKSPACE" = "0"], {
        samples_of("errors", &[Form::New], usize::MAX, "all", 1);
    });
}
