//! `exp` of integers is `f32`, which an integral tensor cannot hold.
//!
//! Instead: `counts.exp()`.
//!
//! names: f32
//! names: i64
//! says: let x | out-of-place | new tensor

use castiron::tensor;

fn main() {
    let mut counts = tensor![1, 2, 3];
    counts.exp_();
    // instead: let _ = counts.exp();
}
