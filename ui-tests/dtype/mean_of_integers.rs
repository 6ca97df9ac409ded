//! A mean is floating-point or complex.
//!
//! Instead: `x.to::<f32>().mean()`.
//!
//! names: mean
//! names: i64
//! says: .to::<f32>()

use castiron::tensor;

fn main() {
    let _ = tensor![1, 2, 3].mean();
    // instead: let _ = tensor![1, 2, 3].to::<f32>().mean();
}
