//! A standard deviation is floating-point or complex.
//!
//! Instead: cast first.
//!
//! names: std
//! names: i64
//! says: .to::<f32>()

use castiron::tensor;

fn main() {
    let x = tensor![1, 2, 3];
    let _ = x.std(1);
    // instead: let _ = x.to::<f32>().std(1);
}
