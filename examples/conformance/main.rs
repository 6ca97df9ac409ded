//! Runs [`AnyTensor`](castiron::AnyTensor) against tables of what PyTorch does, and says where the two differ.
//!
//! ```text
//! cargo run --release --features any --example conformance -- tests/oracle
//! ```
//!
//! Reads every table in the folder that it knows (`NAME`, or `NAME.gz`, whole or some of its rows), prints for each how many rows
//! agree, how many are set aside and by which rule, how many are not supported yet, and the first disagreements; it ends with status
//! 1 if there are any.

mod attributes;
mod calls;
mod codes;
mod dtypes;
mod layouts;
mod report;
mod samples;
mod sparse;
mod tables;
mod tokens;
mod values;
mod views;

use report::Table;
use std::path::Path;
use std::process::ExitCode;
use tables::{TABLES, texts};

fn run(folder: &Path) -> Result<bool, String> {
    let texts = texts(folder)?;
    if texts.is_empty() {
        let known: Vec<&str> = TABLES.iter().map(|(name, _)| *name).collect();
        return Err(format!("{}: no table that is known here ({})", folder.display(), known.join(", ")));
    }
    let mut agrees = true;
    for (name, read) in TABLES {
        let Some(text) = texts.get(*name) else { continue };
        let mut table = Table::new(name);
        read(text, &mut table).map_err(|error| format!("{name}: {error}"))?;
        table.print();
        agrees &= table.agrees();
    }
    Ok(agrees)
}

fn main() -> ExitCode {
    // Errors are results here; a panic would be a defect, and is reported as a disagreement.
    std::panic::set_hook(Box::new(|_| {}));
    let folder = std::env::args_os().nth(1).or_else(|| std::env::var_os("CASTIRON_ORACLE"));
    let folder = folder.unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle").into());
    match run(Path::new(&folder)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
