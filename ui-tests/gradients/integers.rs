//! Integers have no gradient.
//!
//! Instead: cast first.
//!
//! names: `i64` has no gradient
//! says: .to::<f32>()

use castiron::grad::Grad;
use castiron::tensor;

fn main() {
    let n = tensor![1_i64, 2];
    let _ = n.value_and_grad((), |n, ()| n.to::<f32>().sum());
    // instead: let _ = n.to::<f32>().value_and_grad((), |n, ()| n.sum());
}
