//! A zero-dim CPU tensor moves to CUDA by itself; a CUDA tensor never moves to the CPU.
//!
//! Instead: `&x + scale.to_device::<Cpu>()?`.
//!
//! names: devices
//! names: Cpu
//! names: Cuda
//! says: .to_device

use castiron::{Cuda, Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![3]> = Tensor::zeros();
    let scale: Tensor<f32, (), Cuda<0>> = Tensor::zeros();
    let _ = &x + &scale;
    // instead: let _ = &x + scale.to_device::<castiron::Cpu>().unwrap();
}
