//! `mm` multiplies two matrices.
//!
//! Instead: `matmul`, which takes batches.
//!
//! names: rank 2 | mm
//! says: matmul

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![8, 2, 3]> = Tensor::zeros();
    let w: Tensor<f32, shape![3, 4]> = Tensor::zeros();
    let _ = x.mm(&w);
    // instead: let _ = x.matmul(&w);
}
