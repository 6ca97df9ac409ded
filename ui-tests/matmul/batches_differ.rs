//! Leading axes broadcast.
//!
//! Instead: `unsqueeze` or `select` one of the batches.

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![2, 3, 4]> = Tensor::zeros();
    let w: Tensor<f32, shape![5, 4, 3]> = Tensor::zeros();
    let _ = x.matmul(&w);
}
