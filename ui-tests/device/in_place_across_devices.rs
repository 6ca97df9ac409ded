//! An output does not change its device.
//!
//! Instead: move the other operand first.
//!
//! names: devices
//! names: Cpu
//! names: Cuda
//! says: .to_device

use castiron::{Cuda, Tensor, shape};

fn main() {
    let mut x: Tensor<f32, shape![3]> = Tensor::zeros();
    x += Tensor::<f32, shape![3], Cuda<0>>::zeros();
    // instead: x += Tensor::<f32, shape![3], Cuda<0>>::zeros().to_device::<castiron::Cpu>().unwrap();
}
