//! `docs/devices.md`: every operation by name on every device, as found by calling it with one of PyTorch's samples. `UPDATE_DOCS=1` writes
//! the table; otherwise it is compared. That results equal the host's is tested in `any/rows.rs`.

use crate::any::rows::{Given, arguments, given, moved, table};
use crate::pretend::{self, Installed};
use castiron::any::{AnySparse, Value, alias, call, ops};
use castiron::{AnyTensor, DType, Result};
use std::collections::{BTreeMap, HashMap, HashSet};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/devices.md");

/// Operations of `AnySparse`, by the names of those of tensors.
fn sparse(name: &str, x: &AnySparse) -> Option<Result<()>> {
    let dense = || AnyTensor::ones(x.shape(), DType::F32);
    Some(match name {
        "add" => x.add(x).map(drop),
        "sub" => x.sub(x).map(drop),
        "mul" => x.mul(x).map(drop),
        "div" => x.div(2.0).map(drop),
        "neg" => x.neg().map(drop),
        "abs" => x.abs().map(drop),
        "sin" => x.sin().map(drop),
        "sqrt" => x.sqrt().map(drop),
        "relu" => x.relu().map(drop),
        "sign" => x.sign().map(drop),
        "isnan" => x.isnan().map(drop),
        "permute" => x.permute(&[1, 0]).map(drop),
        "transpose" => x.transpose(0, 1).map(drop),
        "t" => x.t().map(drop),
        "unsqueeze" => x.unsqueeze(0).map(drop),
        "narrow" => x.narrow(0, 0, 1).map(drop),
        "select" => x.select(0, 0).map(drop),
        "sum" => x.sum().map(drop),
        "cat" => AnySparse::cat(&[x, x], 0).map(drop),
        "stack" => AnySparse::stack(&[x, x], 0).map(drop),
        "matmul" | "mm" => dense().and_then(|dense| x.matmul(&dense)).map(drop),
        "to" => x.to(DType::F64).map(drop),
        _ => return None,
    })
}

/// The same value with all tensors on `Meta`.
fn planned(value: &Value) -> Value {
    match value {
        Value::Array(tensor) => tensor.to_device("meta").map_or(Value::Absent, Value::Array),
        Value::List(values) => Value::List(values.iter().map(planned).collect()),
        Value::Str(name) if name == "cpu" => Value::Str("meta".to_owned()),
        other => other.clone(),
    }
}

/// `yes`, or why not.
fn cell<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => "yes".to_owned(),
        Err(error) => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default().replace('|', "\\|").replace("cuda:0", "cuda");
            format!("no: {}", line.chars().take(150).collect::<String>())
        }
    }
}

/// The sample to call: the first of `float32`, or else the first of all.
fn samples() -> HashMap<&'static str, Given> {
    let known: HashSet<&'static str> = ops().map(|op| op.name).collect();
    let mut found: HashMap<&'static str, (bool, Given)> = HashMap::new();
    for row in table()["samples"].as_array().unwrap() {
        let name = row["op"].as_str().unwrap();
        let Some(&name) = known.get(name).or_else(|| known.get(alias(name)?)) else { continue };
        let is_float = row["dtype"] == "f32";
        if found.get(name).is_some_and(|&(is_best, _)| is_best || !is_float) {
            continue;
        }
        if let Some(given) = given(row) {
            found.insert(name, (is_float, given));
        }
    }
    found.into_iter().map(|(name, (_, given))| (name, given)).collect()
}

fn written() -> String {
    let samples = samples();
    let coo = AnyTensor::from(castiron::tensor![[0.0, 2.0], [3.0, 0.0]]).to_sparse(0).unwrap();
    let (mut rows, mut untried, mut counts) = (BTreeMap::new(), Vec::new(), [0; 4]);
    for op in ops() {
        let Some((args, named)) = samples.get(op.name) else {
            untried.push(format!("`{}`", op.name));
            continue;
        };
        let on = |through: &dyn Fn(&Value) -> Value| cell(call(op.name, &arguments(args, named, through)));
        let sparse = sparse(op.name, &coo).map_or("no".to_owned(), cell);
        let cells = [on(&Value::clone), on(&moved), on(&planned), sparse];
        let known = |device: &str| op.runs_on(device.parse().unwrap());
        assert!(known("cpu") && known("cuda:0"));
        let by_arguments = ["index_put", "narrow", "repeat_interleave", "tensor_split"].contains(&op.name);
        assert_eq!(known("meta"), cells[2] == "yes" || by_arguments, "{}: {}", op.name, cells[2]);
        cells.iter().zip(&mut counts).for_each(|(cell, count)| *count += usize::from(cell == "yes"));
        rows.insert(op.name, cells);
    }
    untried.sort();
    let mut text = format!(
        "# Operations by device\n\n\
         Every operation of `AnyTensor` by name (`any::ops`), called once with a sample of PyTorch's own tests on each device: does it run, and if not, why. Typed tensors run \
         the same loops and kernels. `AnySparse` has methods of its own; `no`: convert it with `to_dense` first. Written and compared by \
         `tests/cuda/operations.rs`, on a pretend GPU (`UPDATE_DOCS=1` writes this file). What is computed on the host and uploaded counts as running: `gpu.md` says what is.\n\n\
         Of {} operations {} run on `Cpu`, {} on `Cuda<N>`, {} on `Meta`, {} on sparse tensors.\n\n\
         | operation | `Cpu` | `Cuda<N>` | `Meta` | sparse |\n|---|---|---|---|---|\n",
        rows.len(),
        counts[0],
        counts[1],
        counts[2],
        counts[3]
    );
    for (name, cells) in rows {
        text += &format!("| `{name}` | {} |\n", cells.join(" | "));
    }
    if !untried.is_empty() {
        text += &format!("\nNot called here, for PyTorch's tests have no sample of them: {}.\n", untried.join(", "));
    }
    text
}

#[test]
fn each_on_every_device() {
    let cache = pretend::shared_cache();
    let variables = [("CASTIRON_CUDA_CACHE", &*cache), ("PRETEND_BLAS_WORKSPACE", "0")];
    pretend::within("operations::each_on_every_device", Installed::All, &variables, || {
        let written = written();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            return std::fs::write(FILE, written).unwrap();
        }
        let there = std::fs::read_to_string(FILE).unwrap_or_default();
        for (now, before) in written.lines().zip(there.lines()) {
            assert_eq!(now, before, "docs/devices.md says something else; `UPDATE_DOCS=1` writes it");
        }
        assert_eq!(written.lines().count(), there.lines().count(), "`UPDATE_DOCS=1` writes docs/devices.md");
    });
}
