//! A result is written to a tensor on the device that computes it.
//!
//! Instead: make the tensor there.
//!
//! names: devices
//! names: Cpu
//! names: Meta
//! says: .to_device

use castiron::{Meta, Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![2]> = Tensor::ones();
    let mut out: Tensor<f32, shape![2], Meta> = Tensor::ones();
    // instead: let mut out: Tensor<f32, shape![2]> = Tensor::ones();
    x.exp_into(&mut out);
}
