//! A formula takes as many operands as it has, also where `fused!` calls it.
//!
//! Instead: give them all.
//!
//! names: the formula `swish` can't be called with
//! says: as many tensors, expressions or scalars as the formula has operands

use castiron::{formula, fused, tensor};

#[formula]
fn swish<F: Float>(x: F, beta: F) -> F {
    x / (1.0 + (-(beta * x)).exp())
}

fn main() {
    let x = tensor![1.0, 2.0];
    let _ = fused!(swish(x) + 1.0);
    // instead: let _ = fused!(swish(x, 0.5) + 1.0);
}
