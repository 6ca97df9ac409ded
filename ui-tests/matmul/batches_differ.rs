//! Leading axes broadcast.
//!
//! Instead: `unsqueeze` or `select` one of the batches.
//!
//! names: D2
//! names: D5
//! says: select | unsqueeze | equal

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![2, 3, 4]> = Tensor::zeros();
    let w: Tensor<f32, shape![5, 4, 3]> = Tensor::zeros();
    // instead: let w: Tensor<f32, shape![1, 4, 3]> = Tensor::zeros();
    let _ = x.matmul(&w);
}
