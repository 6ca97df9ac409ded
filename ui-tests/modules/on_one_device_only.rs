//! What is moved to another device says in its type where it is.
//!
//! Instead: a parameter that is the device.
//!
//! names: `Layer` can't be moved to another device
//! says: D: Device = Cpu

use castiron::io::ToDevice;
use castiron::{Meta, Module, Tensor, shape};
// instead: use castiron::{Cpu, Device, Meta, Module, Tensor, shape};

#[derive(Module)]
pub struct Layer {
    // instead: pub struct Layer<D: Device = Cpu> {
    pub weight: Tensor<f32, shape![2]>,
    // instead: pub weight: Tensor<f32, shape![2], D>,
}

fn plan(layer: &Layer) -> castiron::Result<()> {
    <Layer as ToDevice>::to_device::<Meta>(layer).map(drop)
    // instead: layer.to_device::<Meta>().map(drop)
}

fn main() {
    let _ = plan;
}
