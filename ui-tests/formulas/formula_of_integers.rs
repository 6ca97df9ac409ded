//! Formulas of floating-point numbers.
//!
//! Instead: convert first.
//!
//! names: the formula can't be applied
//! says: .to::<f32>()

use castiron::{formula, tensor};

#[formula]
fn third<F: Float>(x: F) -> F {
    x / 3.0
}

fn main() {
    let _ = tensor![1, 2].apply(third, ());
    // instead: let _ = tensor![1, 2].to::<f32>().apply(third, ());
}
