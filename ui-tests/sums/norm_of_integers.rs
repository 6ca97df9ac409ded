//! A norm is of floating-point or complex numbers.
//!
//! Instead: `x.to::<f32>().norm(2.0)`.
//!
//! names: norm
//! names: i64
//! says: .to::<f32>()

use castiron::tensor;

fn main() {
    let _ = tensor![3, 4].norm(2.0);
    // instead: let _ = tensor![3, 4].to::<f32>().norm(2.0);
}
