//! Measures how far each elementary and special function of `f32` and `f64` is from the exact value, and writes the table
//! `docs/accuracy.md`.
//!
//! ```text
//! cargo run --release -p accuracy
//! ```
//!
//! It ends with status 1 if a function is further off than it promises.

mod measure;

use measure::{Error, Scale};
use std::fmt::Write as _;

const HEAD: &str = "# How accurate the functions are

Written by `cargo run --release -p accuracy`.

The largest error that was found, in units in the last place (ulp) of the result, the arguments where, and what is promised: a test
holds it. Arguments are those of `tests/oracle/functions.json` and `special.json`, whose results were computed with many digits; functions
of one `f32` are also compared with those of `f64`, at 262,000 arguments of all exponents and both signs. Where it says \"of 1\", errors
are in ulp of the result or of 1, whichever is larger: the function has roots near which results lose digits, in PyTorch as here.

Results do not depend on vectors, threads or places in memory: there is one function for all. `f16` and `bf16` are computed in `f32`
and rounded. The Bessel functions `j0`, `j1`, `y0`, `y1`, the Airy function and, of `f64`, the incomplete gamma functions are PyTorch's
approximations; their promises are what those are good for. `polygamma` of order 1 is PyTorch's series, good for 9 digits.

| function | f32 | promised | f64 | promised |
|---|---|---|---|---|
";

/// A step through the bits of `f32`.
const STEP: usize = 16_411;

/// The error and where it is.
fn cell(error: &Error) -> String {
    let arguments: Vec<String> = error.at.iter().map(|x| format!("{x:.6e}")).collect();
    format!("{} at {}", ulps(error.ulps), arguments.join(", "))
}

/// Large ones as powers of ten.
fn ulps(error: f64) -> String {
    if error < 1000.0 { format!("{error:.2}") } else { format!("{error:.0e}") }
}

fn main() -> std::io::Result<()> {
    let mut text = String::from(HEAD);
    let mut fails = false;
    for row in measure::ROWS {
        let (single, double) = (measure::single(row, STEP), measure::double(row));
        let of = if matches!(row.scale, Scale::Result) { "" } else { " (of 1)" };
        let _ = writeln!(
            text,
            "| `{}`{of} | {} | {} | {} | {} |",
            row.name,
            cell(&single),
            ulps(row.single),
            cell(&double),
            ulps(row.double)
        );
        for (dtype, error, bound) in [("f32", single, row.single), ("f64", double, row.double)] {
            if !error.is_within(bound) {
                fails = true;
                println!("{} of {dtype}: {} ulp, promised are {}", row.name, cell(&error), ulps(bound));
            }
        }
    }
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/accuracy.md"), text)?;
    if fails {
        std::process::exit(1);
    }
    Ok(())
}
