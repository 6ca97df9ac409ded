//! A loop of a formula has a known number of steps.
//!
//! Instead: loop so many times, and keep what is done.
//!
//! names: a loop has the same steps for all elements
//! says: for _ in 0..8

use castiron::{formula, tensor};

#[formula]
fn root<F: Float>(x: F) -> F {
    let mut y = 0.5 * x + 0.5;
    while (y * y - x).abs() > 1e-6 {
    // instead: for _ in 0..8 {
        y = 0.5 * (y + x / y);
    }
    y
}

fn main() {
    let _ = tensor![1.0, 2.0].apply(root, ());
}
