//! Gradients on a GPU: PyTorch's own samples; and `docs/gradients.md`, every operation by name with its gradient. `UPDATE_DOCS=1` writes
//! the table; otherwise it is compared.

use crate::any::rows::{Given, arguments, given, table};
use crate::grad_samples::{REFUSED, Wrong, depends_on_place, is_random, run, second};
use crate::pretend;
use castiron::any::{Value, alias, call, ops};
use castiron::{AnyTensor, Result};
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/gradients.md");

fn samples() -> Json {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/grad_samples.json.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What PyTorch's samples of gradients say of an operation.
#[derive(Default)]
struct Found {
    on_gpu: usize,
    /// Samples whose second derivatives are differences of the first ones, and why others have none.
    seconds: usize,
    without_second: Option<String>,
}

/// The first line of an error, as a cell.
fn cell(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().replace('|', "\\|");
    let reason = line.rsplit_once("value_and_grad: ").map_or(&*line, |(_, reason)| reason);
    let reason = reason.split(": compute it of").next().unwrap_or(reason);
    reason.chars().take(120).collect()
}

/// How many samples of each operation are tried on the GPU; `None`: one of every twelfth operation.
fn rows() -> Option<usize> {
    let is_updated = std::env::var_os("UPDATE_DOCS").is_some();
    std::env::var("CASTIRON_ROWS").ok().map(|most| most.parse().unwrap()).or(is_updated.then_some(1))
}

/// The samples of the table: gradients on the GPU, and second derivatives on the host. `CASTIRON_ROWS=8` takes up to eight samples of each
/// operation, `CASTIRON_OPS=sort,topk` selects operations.
fn tried(known: &HashSet<&'static str>) -> BTreeMap<&'static str, Found> {
    let json = samples();
    let chosen = std::env::var("CASTIRON_OPS").ok();
    let (mut found, mut wrong): (BTreeMap<&'static str, Found>, Vec<String>) = Default::default();
    for row in json["samples"].as_array().unwrap() {
        let op = row["op"].as_str().unwrap();
        let Some(&name) = known.get(op).or_else(|| known.get(alias(op)?)) else { continue };
        let is_chosen = chosen.as_ref().is_none_or(|chosen| chosen.split(',').any(|name| name == op));
        if !is_chosen || is_random(row, op) || depends_on_place(row, op) {
            continue;
        }
        let is_new = !found.contains_key(name);
        let number = found.len();
        let most = rows().unwrap_or(usize::from(chosen.is_some() || is_new && number.is_multiple_of(12)));
        let of = found.entry(name).or_default();
        if of.on_gpu < most {
            match run(row, op, &|x| x.to_device("cuda:0")) {
                Ok(()) => of.on_gpu += 1,
                Err(Wrong::Refused(_)) if REFUSED.contains(&op) => {}
                Err(error) => wrong.push(format!("{op}: {error:?}")),
            }
        }
        if of.seconds == 0 {
            match second(row, op) {
                Ok(Some(())) => of.seconds += 1,
                Err(Wrong::Refused(why)) => of.without_second = Some(why),
                _ => {}
            }
        }
    }
    let agree: usize = found.values().map(|found| found.on_gpu).sum();
    println!("{agree} agree on the GPU");
    assert_eq!(wrong, [""; 0], "{} of {agree} agree", wrong.len());
    found
}

/// The samples to call: those with floats, up to a few of each operation.
fn calls(known: &HashSet<&'static str>) -> HashMap<&'static str, Vec<Given>> {
    let mut found: HashMap<&'static str, Vec<Given>> = HashMap::new();
    for row in table()["samples"].as_array().unwrap() {
        let name = row["op"].as_str().unwrap();
        let Some(&name) = known.get(name).or_else(|| known.get(alias(name)?)) else { continue };
        if row["dtype"] != "f32" && row["dtype"] != "f64" && found.contains_key(name) {
            continue;
        }
        let of = found.entry(name).or_default();
        if let (true, Some(given)) = (of.len() < 6, given(row)) {
            of.push(given);
        }
    }
    found
}

/// A value whose floats require gradients.
fn learned(value: &Value) -> Value {
    match value {
        Value::Array(x) if x.dtype().is_floating_point() || x.dtype().is_complex() => {
            let mut x = x.copy().unwrap();
            x.requires_grad_(true).unwrap();
            x.into()
        }
        Value::List(values) => Value::List(values.iter().map(learned).collect()),
        other => other.clone(),
    }
}
fn outputs(of: &Value, to: &mut Vec<AnyTensor>) {
    match of {
        Value::Array(x) => to.push(x.clone()),
        Value::List(list) => list.iter().for_each(|of| outputs(of, to)),
        _ => {}
    }
}

/// How an operation is recorded: the kind of its step; or why it is not.
fn recorded(op: &str, (args, named): &Given) -> Result<Option<&'static str>> {
    let mut all = Vec::new();
    outputs(&call(op, &arguments(args, named, learned))?, &mut all);
    let Some(output) = all.iter().find(|output| output.requires_grad()) else { return Ok(None) };
    Ok(Some(output.kind_of_step().unwrap_or("view")))
}

fn written() -> String {
    let known: HashSet<&'static str> = ops().map(|op| op.name).collect();
    let (tried, calls) = (tried(&known), calls(&known));
    let mut text = String::new();
    let (mut differentiable, mut twice) = (0, 0);
    let all: BTreeMap<_, _> = ops().map(|op| (op.name, op)).collect();
    for op in all.into_values() {
        let found = tried.get(op.name);
        let samples = calls.get(op.name).map_or(&[][..], |list| list);
        let all: Vec<_> = samples.iter().map(|given| recorded(op.name, given)).collect();
        let how = all.iter().find_map(|of| of.as_ref().ok().copied().flatten());
        let refusal = all.iter().find_map(|of| of.as_ref().err()).map(|error| cell(&error.to_string()));
        let cells = match (how, found) {
            (Some(how), found) => {
                differentiable += 1;
                let second = match found {
                    Some(Found { seconds: 1.., .. }) => "any".to_owned(),
                    Some(Found { without_second: Some(why), .. }) => format!("1: {}", cell(why)),
                    _ => "not tried".to_owned(),
                };
                twice += usize::from(second == "any");
                let is_on_gpu = found.is_some_and(|found| found.on_gpu > 0);
                ["yes", how, &second, if is_on_gpu { "yes" } else { "not tried" }].map(str::to_owned)
            }
            (None, _) => {
                let why = match refusal {
                    Some(why) if why.contains("derivative") || why.contains("gradient") => format!("refused: {why}"),
                    _ if samples.is_empty() => "no sample".to_owned(),
                    _ => "no".to_owned(),
                };
                [why, String::new(), String::new(), String::new()]
            }
        };
        text += &format!("| `{}` | {} |\n", op.name, cells.join(" | "));
    }
    let count = ops().count();
    format!(
        "# Gradients by operation\n\n\
         Every operation of `AnyTensor` by name (`any::ops`): whether gradients come back through it, what kind of step records it (an operation made of others shows the last of \
         them), to which order, and whether PyTorch's own sample agreed on a GPU. `no`: its results do not move with its operands, or are no floats. Typed tensors record the same steps. The values are those of PyTorch: `tests/conformance.rs` compares \
         all of its samples on the host; second derivatives (`any`: derivatives are made of operations that have derivatives) are compared with differences of first ones. \
         An operation that has none is an error where it would be recorded, never a silent zero. Written and compared by `tests/cuda/gradients.rs`, on a pretend GPU (`UPDATE_DOCS=1` writes \
         this file).\n\n\
         Of {count} operations {differentiable} have gradients, {twice} of these of any order.\n\n\
         | operation | gradient | recorded as | order | `Cuda<N>` |\n|---|---|---|---|---|\n{text}"
    )
}

#[test]
fn gradients_of_every_operation() {
    crate::on_gpu!("gradients::gradients_of_every_operation", {
        let written = written();
        if pretend::is_real() || std::env::var_os("CASTIRON_OPS").is_some() {
            return;
        }
        if std::env::var_os("UPDATE_DOCS").is_some() {
            return std::fs::write(FILE, written).unwrap();
        }
        let there = std::fs::read_to_string(FILE).unwrap_or_default();
        // (The last column is whether it was tried on the GPU.)
        let tried = |line: &str| match rows() {
            None => line.trim_end_matches(" |").rsplit_once(" | ").map_or(line, |(before, _)| before).to_owned(),
            Some(_) => line.to_owned(),
        };
        for (now, before) in written.lines().zip(there.lines()) {
            assert_eq!(tried(now), tried(before), "docs/gradients.md says something else; `UPDATE_DOCS=1` writes it");
        }
        assert_eq!(written.lines().count(), there.lines().count(), "`UPDATE_DOCS=1` writes docs/gradients.md");
    });
}
