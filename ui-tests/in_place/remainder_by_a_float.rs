//! A float scalar lifts integers to floats, which an integral tensor does not take.
//!
//! Instead: an integer, or a new tensor.
//!
//! names: f32
//! names: i64
//! says: let x | out-of-place | new tensor

use castiron::tensor;

fn main() {
    let mut counts = tensor![5, 6, 7];
    counts %= 2.5;
    // instead: counts %= 2;
}
