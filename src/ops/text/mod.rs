//! Formulas as text: the same Rust formula that the host's loops run is run on numbers that write down each step, and printed as
//! C++ for a CUDA compiler. Dtypes are values here.
//!
//! Uses the formulas and the machine numbers; a CUDA device compiles what this gives. A row of `rows` records its formula for a
//! dtype, `write` prints it, `prelude.h` holds what the text calls. A `kernel` loads, converts and stores the elements around
//! formulas and operations (`operations`), `source` puts the loop around it, `arguments` holds what it is launched with; devices begin
//! at `describe`.
//! `reduce`, `row` and `lane` give the steps of reductions, functions of rows and scans as structs, over the recorded `numbers`.

pub(crate) mod arguments;
#[cfg(test)]
mod compiled;
pub(crate) mod describe;
#[cfg(all(test, unix))]
mod elements;
#[cfg(all(feature = "cuda", feature = "any"))]
pub(crate) mod erased;
#[cfg(test)]
mod evaluate;
mod floats;
pub(crate) mod graph;
mod integers;
pub(crate) mod kernel;
pub(crate) mod lane;
#[cfg(all(test, unix))]
mod memory;
mod number;
mod numbers;
#[cfg(feature = "cuda")]
pub(crate) mod operands;
mod operations;
mod paths;
#[cfg(feature = "cuda")]
pub(crate) mod product;
#[cfg(all(test, unix))]
mod program;
pub(crate) mod reduce;
pub(crate) mod row;
#[cfg(test)]
mod row_tests;
pub(crate) mod rows;
pub(crate) mod source;
#[cfg(test)]
mod steps_tests;
#[cfg(all(test, unix))]
pub(crate) mod suite;
#[cfg(test)]
mod tests;
mod tiles;
#[cfg(all(test, unix))]
mod trees;
mod write;

pub use graph::Unreadable;
pub(crate) use paths::refuse;
#[cfg_attr(not(test), allow(unused_imports))]
pub(crate) use write::{PRELUDE, library};
