//! Joined tensors are on one device.
//!
//! Instead: move the others first.
//!
//! names: devices
//! names: Cpu
//! names: Cuda
//! says: .to_device

use castiron::{Cuda, Tensor, axis, cat, shape};

fn main() {
    let x: Tensor<f32, shape![3]> = Tensor::zeros();
    let y: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let _ = cat((&x, &y), axis![0]);
    // instead: let _ = cat((&x, &y.to_device::<castiron::Cpu>().unwrap()), axis![0]);
}
