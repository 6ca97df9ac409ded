//! Every tensor of a struct that is generic over its device is on that device.
//!
//! Instead: `Tensor<…, D>`.
//!
//! names: is on one device
//! says: Tensor<f32, shape![…], D>

use castiron::{Cpu, Device, Module, Tensor, shape};

#[derive(Module)]
pub struct Layer<D: Device = Cpu> {
    pub weight: Tensor<f32, shape![3, 2], D>,
    pub bias: Tensor<f32, shape![3]>,
    // instead: pub bias: Tensor<f32, shape![3], D>,
}

fn main() {}
