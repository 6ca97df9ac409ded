//! Joined tensors are on one device.
//!
//! Instead: move the others first.

use castiron::{Cuda, Tensor, axis, cat, shape};

fn main() {
    let x: Tensor<f32, shape![3]> = Tensor::zeros();
    let y: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let _ = cat((&x, &y), axis![0]);
}
