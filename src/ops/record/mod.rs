//! Formulas as data: the Rust formula of the host's loops runs on numbers that record each step. Dtypes are values here.
//!
//! A row of `rows` records its formula for a dtype. A `kernel` loads, converts and stores the elements around formulas and operations
//! (`operations`); `describe` makes one of what a device launches, `plan` chooses its form, `arguments` holds the launch arguments.
//! `reduce`, `row` and `lane` record the steps of reductions, row functions and scans, over the recorded `numbers`.
//!
//! Nothing of this is text. A `dialect` prints it: CUDA C++ is the first one (`cuda`).

// Texts do not depend on how the recorder is compiled, so optimised tests leave these suites out.
#![cfg_attr(all(test, not(debug_assertions)), allow(dead_code, unused_imports))]

pub(crate) mod arguments;
#[cfg(all(test, debug_assertions))]
mod compiled;
pub(crate) mod cuda;
#[cfg(feature = "grad")]
pub(crate) mod derivative;
pub(crate) mod describe;
pub(crate) mod dialect;
#[cfg(all(test, unix, debug_assertions))]
mod elements;
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
mod operations;
mod paths;
pub(crate) mod plan;
pub(crate) mod product;
#[cfg(all(test, unix, debug_assertions))]
mod program;
pub(crate) mod reduce;
pub(crate) mod row;
#[cfg(all(test, debug_assertions))]
mod row_tests;
pub(crate) mod rows;
#[cfg(all(test, debug_assertions))]
mod steps_cases;
#[cfg(all(test, debug_assertions))]
mod steps_tests;
#[cfg(all(test, unix, debug_assertions))]
pub(crate) mod suite;
mod suited;
#[cfg(all(test, debug_assertions))]
mod tests;
#[cfg(all(test, unix, debug_assertions))]
mod trees;

pub use graph::Unreadable;
pub(crate) use paths::refuse;
