//! The mean of floats is no integer, and integers do not take it in place.
//!
//! Instead: a new tensor.
//!
//! names: f32
//! names: i64
//! says: let x | out-of-place | new tensor

use castiron::tensor;

fn main() {
    let mut counts = tensor![1, 2, 3];
    counts -= counts.to::<f32>().mean();
    // instead: let counts = &counts - counts.to::<f32>().mean();
}
