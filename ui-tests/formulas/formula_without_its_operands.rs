//! A formula takes as many operands as it has.
//!
//! Instead: give those after the tensor.
//!
//! names: the formula can't be applied
//! says: as many as the formula has

use castiron::{formula, tensor};

#[formula]
fn swish<F: Float>(x: F, beta: F) -> F {
    x / (1.0 + (-(beta * x)).exp())
}

fn main() {
    let _ = tensor![1.0, 2.0].apply(swish, ());
    // instead: let _ = tensor![1.0, 2.0].apply(swish, 0.5);
}
