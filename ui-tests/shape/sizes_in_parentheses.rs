//! A shape is made of types: numbers are written within `shape!`.
//!
//! Instead: `shape![2, 3]`.
//!
//! names: type
//! says: shape!
//! rustc: no code

use castiron::Tensor;
// instead: use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, (2, 3)> = Tensor::zeros();
    // instead: let x: Tensor<f32, shape![2, 3]> = Tensor::zeros();
}
