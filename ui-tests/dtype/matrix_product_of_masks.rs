//! A matrix product adds, and bools have no sum.
//!
//! Instead: cast first: the product then counts.
//!
//! names: matmul
//! names: bool
//! says: .to::<

use castiron::tensor;

fn main() {
    let seen = tensor![[true, false], [false, true]];
    let _ = seen.matmul(&seen);
    // instead: let _ = seen.to::<f32>().matmul(seen.to::<f32>());
}
