//! Measures how far each elementary and special function of `f32` and `f64` is from the exact value, and writes the table
//! `docs/accuracy.md`.
//!
//! ```text
//! cargo run --release -p accuracy
//! ```
//!
//! Exits with status 1 if a function is less accurate than promised.

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

const COMPLEX_HEAD: &str = "
## Of complex numbers

At the arguments of `tests/oracle/complex.json`, of all magnitudes, near the unit circle and near 0, 1, -1, i and -i; of `pow` both numbers are
complex. \"A part\" is the largest error of a real or imaginary part in ulp of that part, with the argument (of `pow`, both) where, \"the larger\" the
largest in ulp of the larger part of the result, which is what is promised: the smaller part of a result may be a difference of which digits are lost, in
PyTorch as here. `exp2` and `pow` are exponentials of a product, whose rounding is all the more of the result the larger it is.

| function | complex64: a part | the larger | promised | complex128: a part | the larger | promised |
|---|---|---|---|---|---|---|
";

/// A step through the bits of `f32`.
const STEP: usize = 16_411;

/// The error and the arguments it occurs at.
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
    text.push_str(COMPLEX_HEAD);
    for row in measure::COMPLEX_ROWS {
        let errors = measure::complex(row);
        let _ = write!(text, "| `{}` |", row.name);
        for (dtype, error, bound) in [("c64", &errors[0], row.single), ("c128", &errors[1], row.double)] {
            let _ = write!(text, " {} | {} | {} |", cell(&error.of_part), ulps(error.of_larger.ulps), ulps(bound));
            if !error.of_larger.is_within(bound) {
                fails = true;
                println!(
                    "{} of {dtype}: {} ulp of the larger part, promised are {}",
                    row.name,
                    cell(&error.of_larger),
                    ulps(bound)
                );
            }
        }
        text.push('\n');
    }
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/accuracy.md"), text)?;
    if fails {
        std::process::exit(1);
    }
    Ok(())
}
