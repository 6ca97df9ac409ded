//! PyTorch's own samples (`tests/oracle/opinfo_samples.json`), called by name with tensors of the host and of a GPU, whose results must
//! be the same, or refused on both.
//!
//! The test takes a sample or two of each operation. `CASTIRON_ROWS=8` takes up to eight of each, `CASTIRON_OPS=sort,topk` those operations
//! alone.

use crate::{pretend, samples, tokens};
use castiron::any::{Args, Value, alias, call, ops};
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

fn table() -> Json {
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
fn moved(value: &Value) -> Value {
    match value {
        Value::Array(tensor) => on_gpu(tensor).into(),
        Value::List(values) => Value::List(values.iter().map(moved).collect()),
        Value::Str(name) if name == "cpu" => Value::Str("cuda:0".to_owned()),
        other => other.clone(),
    }
}

type Given = (Vec<Value>, Vec<(String, Value)>);

fn given(row: &Json) -> Option<Given> {
    let args = row["args"].as_array()?.iter().map(samples::value).collect::<Result<_, _>>().ok()?;
    let named = row["kwargs"].as_object()?.iter().map(|(name, of)| Some((name.clone(), samples::value(of).ok()?)));
    Some((args, named.collect::<Option<_>>()?))
}

fn has_tensor(value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        Value::List(values) => values.iter().any(has_tensor),
        _ => false,
    }
}

fn run(op: &str, (args, named): &Given, through: impl Fn(&Value) -> Value) -> castiron::Result<Value> {
    let all = args.iter().fold(Args::new(), |all, value| all.arg(through(value)));
    call(op, &named.iter().fold(all, |all, (name, value)| all.named(name, through(value))))
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

fn outcome(op: &str, given: &Given, determined: bool) -> Outcome {
    let expects_gpu = given.0.iter().chain(given.1.iter().map(|(_, value)| value)).any(has_tensor);
    let (host, gpu) = (run(op, given, Value::clone), run(op, given, moved));
    match (gpu, host) {
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

#[test]
fn samples_of_every_operation_run_as_on_the_host() {
    const NAME: &str = "any::rows::samples_of_every_operation_run_as_on_the_host";
    let cache = [("CASTIRON_CUDA_CACHE", &*pretend::shared_cache())];
    if !pretend::is_inside() {
        let Some(output) = pretend::again(NAME, pretend::Installed::Both, &cache) else { return };
        let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        println!("{out}");
        return assert!(output.status.success() && out.contains("1 passed"), "{errors}");
    }
    let number = |name: &str, default: usize| env::var(name).map_or(default, |text| text.parse().unwrap());
    let most = number("CASTIRON_ROWS", 1);
    let chosen = env::var("CASTIRON_OPS").ok();
    let chosen: Option<HashSet<&str>> = chosen.as_deref().map(|names| names.split(',').collect());
    let known: HashSet<&str> = ops().map(|op| op.name).collect();
    let table = table();
    let mut taken: HashMap<&str, (usize, HashSet<&str>)> = HashMap::new();
    let (mut same, mut refused) = (0, 0);
    let (mut cannot, mut differ) = (BTreeMap::<String, Vec<String>>::new(), Vec::new());
    let started = std::time::Instant::now();
    for row in table["samples"].as_array().unwrap() {
        let (op, dtype) = (row["op"].as_str().unwrap(), row["dtype"].as_str().unwrap_or(""));
        if !(known.contains(op) || alias(op).is_some()) || chosen.as_ref().is_some_and(|ops| !ops.contains(op)) {
            continue;
        }
        let wanted = env::var("CASTIRON_DTYPES").unwrap_or("f32".to_owned());
        if !wanted.split(',').any(|of| of == dtype) {
            continue;
        }
        let entry = taken.entry(op).or_default();
        if entry.0 >= most {
            continue;
        }
        entry.0 += 1;
        entry.1.insert(dtype);
        let Some(given) = given(row) else { continue };
        let at = std::time::Instant::now();
        let run = std::panic::AssertUnwindSafe(|| outcome(op, &given, row["loose"] != true));
        let outcome = std::panic::catch_unwind(run).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Outcome::Differs(format!("panicked: {}", text.unwrap_or_default()))
        });
        if env::var("CASTIRON_TIMES").is_ok() {
            println!("{op} {dtype} {:?}", at.elapsed());
        }
        match outcome {
            Outcome::Same => same += 1,
            Outcome::Refused => refused += 1,
            Outcome::CannotRun(why) => cannot.entry(why).or_default().push(format!("{op} {dtype}")),
            Outcome::Differs(why) => {
                differ.push(format!("{op} {dtype}: {}", why.chars().take(300).collect::<String>()))
            }
        }
    }
    println!("{same} samples are as on the host, {refused} refused on both ({:?})", started.elapsed());
    for (why, ops) in &cannot {
        println!("cannot run: {why}: {}", ops.join(", "));
    }
    for row in &differ {
        println!("differs: {row}");
    }
    assert!(differ.is_empty() && cannot.is_empty());
}
