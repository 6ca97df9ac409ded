//! Formulas as text: the Rust formula of the host's loops runs on numbers that record each step, and is printed as C++ for a CUDA compiler.
//! Dtypes are values here.
//!
//! A row of `rows` records its formula for a dtype, `write` prints it; `prelude.h`, `float8.h` and `incomplete.h` hold what the text calls.
//! A `kernel` loads, converts and stores the elements around formulas and operations (`operations`), `source` adds the loop, `arguments`
//! holds the launch arguments; devices start from `describe`. `reduce`, `row` and `lane` write the steps of reductions, row functions and
//! scans as structs, over the recorded `numbers`.

// Texts do not depend on how the recorder is compiled, so optimised tests leave these suites out.
#![cfg_attr(all(test, not(debug_assertions)), allow(dead_code, unused_imports))]

pub(crate) mod arguments;
#[cfg(all(test, debug_assertions))]
mod compiled;
pub(crate) mod describe;
#[cfg(all(test, unix, debug_assertions))]
mod elements;
#[cfg(all(feature = "cuda", feature = "any"))]
pub(crate) mod erased;
#[cfg(all(test, debug_assertions))]
mod evaluate;
mod floats;
pub(crate) mod graph;
mod integers;
pub(crate) mod kernel;
pub(crate) mod lane;
#[cfg(all(test, unix, debug_assertions))]
mod memory;
mod number;
mod numbers;
#[cfg(feature = "cuda")]
pub(crate) mod operands;
mod operations;
mod paths;
#[cfg(feature = "cuda")]
pub(crate) mod product;
#[cfg(all(test, unix, debug_assertions))]
mod program;
pub(crate) mod reduce;
pub(crate) mod row;
#[cfg(all(test, debug_assertions))]
mod row_tests;
pub(crate) mod rows;
pub(crate) mod source;
#[cfg(all(test, debug_assertions))]
mod steps_cases;
#[cfg(all(test, debug_assertions))]
mod steps_tests;
#[cfg(all(test, unix, debug_assertions))]
pub(crate) mod suite;
#[cfg(all(test, debug_assertions))]
mod tests;
mod tiles;
#[cfg(all(test, unix, debug_assertions))]
mod trees;
mod write;

pub use graph::Unreadable;
pub(crate) use paths::refuse;
#[cfg(feature = "cuda")]
pub(crate) use write::with_prelude;
#[cfg_attr(not(test), allow(unused_imports))]
#[cfg(test)]
pub(crate) use write::{PRELUDE, library};
