//! Gradients on a GPU: PyTorch's own samples, and gradients of gradients.

use crate::grad_samples::{REFUSED, Wrong, depends_on_place, is_random, run};
use crate::on_gpu;
use castiron::any::{alias, ops};
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashSet};
use std::io::Read;

fn samples() -> Json {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/grad_samples.json.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// One sample of each operation and dtype of the table; `CASTIRON_ROWS=8` takes up to eight, `CASTIRON_OPS=sort,topk` selects operations.
#[test]
fn gradients_of_pytorchs_own_samples() {
    on_gpu!("gradients::gradients_of_pytorchs_own_samples", {
        let json = samples();
        let known: HashSet<&str> = ops().map(|op| op.name).collect();
        let most: usize = std::env::var("CASTIRON_ROWS").map_or(1, |most| most.parse().unwrap());
        let chosen = std::env::var("CASTIRON_OPS").ok();
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        let (mut agree, mut refused, mut wrong) = (0, Vec::new(), Vec::new());
        for row in json["samples"].as_array().unwrap() {
            let op = row["op"].as_str().unwrap();
            let is_chosen = chosen.as_ref().is_none_or(|chosen| chosen.split(',').any(|name| name == op));
            if !is_chosen
                || !(known.contains(op) || alias(op).is_some())
                || is_random(row, op)
                || depends_on_place(row, op)
            {
                continue;
            }
            let count = taken.entry(op.to_owned()).or_default();
            *count += 1;
            if *count > most {
                continue;
            }
            match run(row, op, &|x| x.to_device("cuda:0")) {
                Ok(()) => agree += 1,
                Err(Wrong::Refused(_)) if REFUSED.contains(&op) => refused.push(op),
                Err(error) => wrong.push(format!("{op}: {error:?}")),
            }
        }
        println!("{agree} agree, refused: {refused:?}");
        assert_eq!(wrong, [""; 0], "{} of {agree} agree", wrong.len());
    });
}
