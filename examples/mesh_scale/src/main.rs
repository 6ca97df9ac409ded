//! What ranks pay for talking, and how programs go on beyond one machine (`docs/scale.md`).
//!
//! `cargo run --release -p mesh-scale -- measure [--ranks 4]` measures all-reduce and the exchange with neighbours, and fits latency and
//! bandwidth; `-- model [FILE.svg]` prints the table of the model and draws `docs/scale.svg`; `-- predict REDUCE EXCHANGE RANKS CORES`
//! says how many seconds a step takes, where `REDUCE` and `EXCHANGE` are fits as `measure` prints them (`alpha,beta`). `--eager` is up to how
//! many bytes MPI sends a message at once: 4096 in Open MPI's shared memory, 65536 by its TCP (`ompi_info --param btl all --level 9`).

mod chart;
mod measure;
mod model;

use lexopt::ValueExt;
use model::{Fit, Network, PROGRAMS, Scaling};
use std::error::Error;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    castiron_mesh::launch()?;
    let (mut words, mut eager, mut arguments) = (Vec::new(), 4096_usize, lexopt::Parser::from_env());
    while let Some(argument) = arguments.next()? {
        match argument {
            lexopt::Arg::Long("eager") => eager = arguments.value()?.parse()?,
            lexopt::Arg::Value(word) => words.push(word.into_string().map_err(|_| "an argument is no text")?),
            lexopt::Arg::Long("ranks") => drop(arguments.value()?),
            other => return Err(other.unexpected().into()),
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["measure"] => measure::run(eager),
        ["model"] => model(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scale.svg")),
        ["model", path] => model(path),
        ["predict", reduce, exchange, ranks, cores] => {
            let network = Network { name: "", reduce: reduce.parse()?, exchange: exchange.parse()?, eager };
            let (ranks, cores): (usize, usize) = (ranks.parse()?, cores.parse()?);
            predict(&network, ranks, cores);
            Ok(())
        }
        _ => Err("expected `measure`, `model [FILE.svg]` or `predict REDUCE EXCHANGE RANKS CORES`".into()),
    }
}

/// The table, as text of a document, and the chart.
fn model(path: &str) -> Outcome<()> {
    let [own, assumed] = model::networks();
    println!("| program | ranks | strong, measured | strong, assumed | weak, measured | weak, assumed |");
    println!("|---|---|---|---|---|---|");
    for program in PROGRAMS {
        for ranks in [1, 4, 16, 64, 256, 1024] {
            let cell = |network: &Network, scaling| {
                if !program.feeds(ranks, scaling) {
                    return "too few parts".to_owned();
                }
                let seconds = program.seconds(network, ranks, scaling);
                format!("{} ({:.1}x)", time(seconds), program.speedup(network, ranks, scaling))
            };
            let cells = [
                cell(&own, Scaling::Strong),
                cell(&assumed, Scaling::Strong),
                cell(&own, Scaling::Weak),
                cell(&assumed, Scaling::Weak),
            ];
            let name = if ranks == 1 { format!("`{}`, {}", program.name, program.step) } else { String::new() };
            println!("| {name} | {ranks} | {} |", cells.join(" | "));
        }
    }
    std::fs::write(path, chart::svg(&[own, assumed])).map_err(|error| format!("{path}: {error}"))?;
    println!("\nwritten: {path}");
    Ok(())
}

/// A step where ranks share cores: while one computes another waits for its turn.
fn predict(network: &Network, ranks: usize, cores: usize) {
    for program in PROGRAMS {
        println!("{} {:.9}", program.name, program.shared(network, ranks, cores));
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        _ if seconds < 1e-3 => format!("{:.0} µs", seconds * 1e6),
        _ if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

impl std::str::FromStr for Fit {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once(',').and_then(|(alpha, beta)| Some((alpha.parse().ok()?, beta.parse().ok()?)));
        let (alpha, beta) =
            numbers.ok_or_else(|| format!("`{text}` is not `alpha,beta`: seconds, seconds per byte"))?;
        Ok(Fit { alpha, beta })
    }
}
