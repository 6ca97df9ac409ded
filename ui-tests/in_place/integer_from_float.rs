//! An integral output takes no floating-point result.
//!
//! Instead: `let counts = counts + &weights`, which is a float tensor.
//!
//! names: f32
//! names: i64
//! says: let x | out-of-place | new tensor

use castiron::tensor;

fn main() {
    let mut counts = tensor![1, 2, 3];
    counts += tensor![0.5, 0.5, 0.5];
    // instead: let counts = counts + tensor![0.5, 0.5, 0.5];
}
