//! Both factors are on one device.
//!
//! Instead: move one of them first.
//!
//! names: devices
//! names: Cpu
//! names: Cuda
//! says: .to_device

use castiron::{Cuda, Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let y: Tensor<f32, shape![3, 2], Cuda<0>> = Tensor::zeros();
    let _ = x.matmul(&y);
    // instead: let _ = x.to_device::<Cuda<0>>().unwrap().matmul(&y);
}
