//! The columns of the left are as many as the rows of the right.
//!
//! Instead: transpose one of them.
//!
//! names: matmul
//! names: D3
//! names: D4
//! says: .t()

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let w: Tensor<f32, shape![4, 5]> = Tensor::zeros();
    // instead: let w: Tensor<f32, shape![3, 5]> = Tensor::zeros();
    let _ = x.matmul(&w);
}
