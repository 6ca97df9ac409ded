//! Runs [`AnyTensor`](castiron::AnyTensor) against tables of PyTorch's results, and reports the differences.
//!
//! ```text
//! cargo run --release -p conformance -- tests/oracle
//! cargo run --release -p conformance --features cuda -- --device cuda:0 --table values.json --every 10
//! ```
//!
//! `--device` is where operands are made (names of devices are compared on the host only), `--table` selects one table, and `--every N`
//! runs one row in N: on a GPU a kernel is compiled for each operation, dtype and layout.
//!
//! Reads every table in the folder that it knows (`NAME` or `NAME.gz`, all or some of its rows) and prints for each how many rows agree,
//! how many are set aside and by which rule, how many are not supported yet, and the first disagreements; then the operations that castiron
//! lacks, and why. Exits with status 1 if there are disagreements, or if that list is wrong.

mod attributes;
mod calls;
mod codes;
mod dtypes;
mod gradients;
mod json;
mod layouts;
mod missing;
mod report;
mod samples;
mod sparse;
mod tables;
mod tokens;
mod typed;
mod values;
mod views;

use castiron::AnyDevice;
use castiron::device::scoped_default_device;
use report::Table;
use std::path::PathBuf;
use std::process::ExitCode;
use tables::{TABLES, texts};

/// The command line.
struct Asked {
    folder: PathBuf,
    device: AnyDevice,
    table: Option<String>,
    every: usize,
}

impl Asked {
    fn read() -> Result<Asked, String> {
        let folder = std::env::var_os("CASTIRON_ORACLE");
        let folder = folder.unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/oracle").into());
        let mut asked = Asked { folder: folder.into(), device: AnyDevice::CPU, table: None, every: 1 };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut given = || words.next().ok_or_else(|| format!("{word}: nothing is given"));
            match word.as_str() {
                "--device" => asked.device = AnyDevice::new(&*given()?).map_err(|error| error.to_string())?,
                "--table" => asked.table = Some(given()?),
                "--every" => asked.every = given()?.parse().map_err(|error| format!("--every: {error}"))?,
                folder => asked.folder = folder.into(),
            }
        }
        Ok(asked)
    }
}

fn run() -> Result<bool, String> {
    let Asked { folder, device, table: asked, every } = Asked::read()?;
    let _there = scoped_default_device(device).map_err(|error| error.to_string())?;
    let texts = texts(&folder)?;
    if texts.is_empty() {
        let known: Vec<&str> = TABLES.iter().map(|(name, _)| *name).collect();
        return Err(format!("{}: no table that is known here ({})", folder.display(), known.join(", ")));
    }
    if let Some(asked) = &asked
        && !texts.contains_key(asked.as_str())
    {
        let there: Vec<&str> = texts.keys().map(String::as_str).collect();
        return Err(format!("{asked}: there is no such table in {} ({})", folder.display(), there.join(", ")));
    }
    let mut agrees = true;
    for (name, read) in TABLES {
        let Some(text) = texts.get(*name) else { continue };
        let is_asked = asked.as_ref().is_none_or(|asked| asked == name);
        if !is_asked || *name == "device.json" && device != AnyDevice::CPU {
            continue;
        }
        let mut table = Table::new(name).every(every);
        read(text, &mut table).map_err(|error| format!("{name}: {error}"))?;
        table.print();
        agrees &= table.agrees();
    }
    if asked.is_none() {
        println!("{}", missing::text());
        for mistake in missing::mistakes() {
            println!("  {mistake}");
            agrees = false;
        }
    }
    Ok(agrees)
}

fn main() -> ExitCode {
    // Errors are results here; a panic is a defect, and is reported as a disagreement.
    std::panic::set_hook(Box::new(|_| {}));
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
