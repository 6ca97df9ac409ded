//! Operands are on one device.
//!
//! Instead: `x.to_device::<Cuda<0>>()? + &y`.
//!
//! names: devices
//! names: Cpu
//! names: Cuda
//! says: .to_device

use castiron::{Cuda, Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![3]> = Tensor::zeros();
    let y: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let _ = &x + &y;
    // instead: let _ = x.to_device::<Cuda<0>>().unwrap() + &y;
}
