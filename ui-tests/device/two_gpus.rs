//! Two GPUs are two devices.
//!
//! Instead: `x.to_device::<Cuda<1>>()? * &y`.
//!
//! names: devices
//! names: Cuda<1>
//! says: .to_device

use castiron::{Cuda, Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let y: Tensor<f32, shape![3], Cuda<1>> = Tensor::zeros();
    let _ = &x * &y;
    // instead: let _ = x.to_device::<Cuda<1>>().unwrap() * &y;
}
