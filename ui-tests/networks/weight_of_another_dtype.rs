//! A layer takes a weight of the dtype of its input.
//!
//! Instead: cast one of them.
//!
//! names: linear
//! names: f32
//! names: f64
//! says: .to::<f32>()

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::ones();
    let weight: Tensor<f64, shape![4, 3]> = Tensor::ones();
    let _ = x.linear(&weight, None);
    // instead: let _ = x.linear(&weight.to::<f32>(), None);
}
