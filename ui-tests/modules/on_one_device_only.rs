//! What is moved to another device says in its type where it is.
//!
//! Instead: a parameter that is the device.
//!
//! names: `Layer` can't be moved to another device
//! says: D: Device = Cpu

use castiron::io::ToDevice;
use castiron::{Meta, Module, Result, Tensor, shape};
// instead: use castiron::{Cpu, Device, Meta, Module, Result, Tensor, shape};

#[derive(Module)]
pub struct Layer {
    // instead: pub struct Layer<D: Device = Cpu> {
    pub weight: Tensor<f32, shape![2]>,
    // instead: pub weight: Tensor<f32, shape![2], D>,
}

fn plan<M: ToDevice>(module: &M) -> Result<M::On<Meta>> {
    module.to_device()
}

pub fn plan_of_layer(layer: &Layer) {
    let _ = plan(layer);
}

fn main() {}
