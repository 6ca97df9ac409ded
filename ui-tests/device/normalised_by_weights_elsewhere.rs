//! The weights of a normalisation are where its input is.
//!
//! Instead: `weight.to_device::<Cuda<0>>()?`.
//!
//! names: devices
//! names: Cpu
//! names: Cuda
//! says: .to_device

use castiron::{Cuda, Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![8, 2], Cuda<0>> = Tensor::zeros();
    let weight: Tensor<f32, shape![2]> = Tensor::ones();
    let _ = x.layer_norm(Some(&weight), None, 1e-5);
    // instead: let _ = x.layer_norm(Some(&weight.to_device::<Cuda<0>>().unwrap()), None, 1e-5);
}
