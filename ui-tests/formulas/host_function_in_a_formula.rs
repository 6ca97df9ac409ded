//! A formula calls other formulas: a function of the host has no kernel and no derivative.
//!
//! Instead: `#[formula]` above that function, too.
//!
//! names: is no formula
//! says: write `#[formula]` above the function

use castiron::{formula, tensor};

fn half(x: f64) -> f64 { x / 2.0 }
// instead: #[formula]
// instead: fn half<F: Float>(x: F) -> F { x / 2.0 }

#[formula]
fn wave<F: Float>(x: F) -> F {
    half(x).sin()
}

fn main() {
    let _ = tensor![1.0, 2.0].apply(wave, ());
}
