//! A function that returns a `Result` ends with one.
//!
//! Instead: `Ok(…)`, or the result without `?`.
//!
//! names: `?` operator
//! says: Ok
//! rustc: E0308

use castiron::{AnyTensor, Result};

fn double(x: &AnyTensor) -> Result<AnyTensor> {
    (x * 2)?
    // instead: Ok((x * 2)?)
}

fn main() {}
