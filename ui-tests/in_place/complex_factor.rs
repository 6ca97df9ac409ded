//! A real output takes no complex result.
//!
//! Instead: a new tensor.
//!
//! names: Complex
//! names: f32
//! says: let x | out-of-place | new tensor

use castiron::{Complex, tensor};

fn main() {
    let mut x = tensor![1.0, 2.0];
    x *= Complex::new(0.0_f32, 1.0);
    // instead: let x = x * Complex::new(0.0_f32, 1.0);
}
