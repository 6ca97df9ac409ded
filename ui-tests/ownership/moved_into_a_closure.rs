//! A closure with `move` has what it names.
//!
//! Instead: a clone in O(1) for the closure.
//!
//! names: moved
//! names: `weight`
//! says: clone
//! rustc: E0382

use castiron::tensor;

fn main() {
    let weight = tensor![1.0, 2.0];
    let scale = move |factor: f32| &weight * factor;
    // instead: let scale = { let weight = weight.clone(); move |factor: f32| &weight * factor };
    let _ = weight.sum() + scale(2.0).sum();
}
