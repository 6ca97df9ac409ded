//! The bias that is packed with a weight is where the weight is.
//!
//! Instead: move the bias first.
//!
//! names: devices
//! names: Cpu
//! names: Cuda
//! says: .to_device

use castiron::{Cuda, Tensor, shape};

fn main() {
    let weight: Tensor<f32, shape![4, 3]> = Tensor::ones();
    let bias: Tensor<f32, shape![4], Cuda<0>> = Tensor::ones();
    let _ = weight.pack_linear(Some(&bias));
    // instead: let _ = weight.pack_linear(Some(&bias.to_device::<castiron::Cpu>().unwrap()));
}
