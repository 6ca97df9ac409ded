//! A formula calls formulas of its own numbers.
//!
//! Instead: a formula of both.
//!
//! names: which this is not defined for
//! says: fn name<F: Float>

use castiron::{formula, tensor};

#[formula]
fn squared<F: Inexact>(x: F) -> F {
    x * x
}
#[formula]
fn next<I: Integer>(x: I) -> I {
    squared(x) + 1
    // instead: x * x + 1
}

fn main() {
    let _ = tensor![1, 2].apply(next, ());
}
