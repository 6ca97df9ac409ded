//! `sqrt` of integers is `f32`, which an integral tensor cannot hold.
//!
//! Instead: the method without `_`, which makes a new tensor.
//!
//! names: f32
//! names: i32
//! says: .sqrt() | let x | new tensor

use castiron::tensor;

fn main() {
    let mut squares = tensor![1, 4, 9; i32];
    squares.sqrt_();
    // instead: let squares = squares.sqrt();
}
