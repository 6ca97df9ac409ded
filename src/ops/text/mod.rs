//! Formulas as text: the same Rust formula that the host's loops run is run on numbers that write down each step, and printed as
//! C++ for a CUDA compiler. Dtypes are values here.
//!
//! Uses the formulas and the machine numbers; a CUDA device compiles what this gives. A row of `rows` records its formula for a
//! dtype, `write` prints it, `kernel` loads, converts and stores the elements around it, `prelude.h` holds what the text calls.

#[cfg(test)]
mod compiled;
#[cfg(test)]
mod evaluate;
mod floats;
mod graph;
mod integers;
pub(crate) mod kernel;
mod number;
mod paths;
pub(crate) mod rows;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use paths::refuse;
pub(crate) use write::{PRELUDE, library};
