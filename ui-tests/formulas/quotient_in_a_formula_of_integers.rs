//! `/` of integers gives a float in PyTorch, so a formula says how it rounds.
//!
//! Instead: `floor_divide`, or `trunc_divide`.
//!
//! names: would give fractions
//! says: x.floor_divide(y)

use castiron::{formula, tensor};

#[formula]
fn half<I: Integer>(x: I) -> I {
    x / 2
    // instead: x.floor_divide(2)
}

fn main() {
    let _ = tensor![1, 2].apply(half, ());
}
