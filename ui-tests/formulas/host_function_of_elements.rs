//! A function of Rust's numbers is not one of elements.
//!
//! Instead: `#[formula]` above it.
//!
//! names: can't be called with the elements of a tensor
//! says: a function of elements has `#[formula]` above it

use castiron::{fused, tensor};

fn half(x: f32) -> f32 { x / 2.0 }
// instead: #[castiron::formula]
// instead: fn half<F: Float>(x: F) -> F { x / 2.0 }

fn main() {
    let x = tensor![1.0, 2.0];
    let _ = fused!(half(x) + 1.0);
}
