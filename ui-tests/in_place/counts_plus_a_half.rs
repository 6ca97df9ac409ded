//! A float literal lifts integers to floats, which an integral tensor does not take.
//!
//! Instead: an integer, or a new tensor.
//!
//! names: f32
//! names: i64
//! says: let x | out-of-place | new tensor

use castiron::tensor;

fn main() {
    let mut counts = tensor![1, 2, 3];
    counts += 0.5;
    // instead: let counts = counts + 0.5;
}
