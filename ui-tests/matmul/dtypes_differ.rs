//! A matrix product does not promote, as in PyTorch.
//!
//! Instead: `x.to::<f64>().matmul(&w)`.
//!
//! names: matmul
//! names: f32
//! names: f64
//! says: .to::<

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let w: Tensor<f64, shape![3, 2]> = Tensor::zeros();
    let _ = x.matmul(&w);
    // instead: let _ = x.to::<f64>().matmul(&w);
}
