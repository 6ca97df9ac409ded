//! The weight of a linear layer has the inputs as its columns.
//!
//! Instead: `x.linear(&weight.t(), None)`.
//!
//! names: matmul | linear
//! says: .t()

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![8, 784]> = Tensor::zeros();
    let weight: Tensor<f32, shape![784, 10]> = Tensor::zeros();
    let _ = x.linear(&weight, None);
    // instead: let _ = x.linear(&weight.t(), None);
}
