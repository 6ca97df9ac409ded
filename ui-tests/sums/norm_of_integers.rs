//! A norm is of floating-point or complex numbers.
//!
//! Instead: `x.to::<f32>().norm(2.0)`.

use castiron::tensor;

fn main() {
    let _ = tensor![3, 4].norm(2.0);
}
