//! A formula is generic over its numbers.
//!
//! Instead: `F: Float`, of which the numbers of kernels and derivatives are, too.
//!
//! names: a formula is written
//! says: F: Float

use castiron::{formula, tensor};

#[formula]
fn third(x: f32) -> f32 {
// instead: fn third<F: Float>(x: F) -> F {
    x / 3.0
}

fn main() {
    let _ = tensor![1.0, 2.0].apply(third, ());
}
