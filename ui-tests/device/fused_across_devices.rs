//! What is fused is on one device.
//!
//! Instead: move the other tensor first.
//!
//! names: devices
//! names: Cpu
//! names: Cuda
//! says: .to_device

use castiron::{Cuda, Tensor, fused, shape};

fn main() {
    let x: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let y: Tensor<f32, shape![3]> = Tensor::zeros();
    let _ = fused!(x * 2.0 + y);
    // instead: let y = y.to_device::<Cuda<0>>().unwrap(); let _ = fused!(x * 2.0 + y);
}
