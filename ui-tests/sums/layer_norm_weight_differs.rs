//! The weight has the shape of the last axes.
//!
//! Instead: a weight of 384 elements.
//!
//! names: layer_norm | weight
//! says: shape of

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![2, 384]> = Tensor::zeros();
    let weight: Tensor<f32, shape![385]> = Tensor::ones();
    // instead: let weight: Tensor<f32, shape![384]> = Tensor::ones();
    let _ = x.layer_norm(Some(&weight), None, 1e-5);
}
