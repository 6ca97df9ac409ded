//! A module that learns is generic over its device.
//!
//! Instead: `struct Net<D: Device = Cpu>`.
//!
//! names: `Net`
//! says: D: Device = Cpu

use castiron::grad::Grad;
use castiron::{Module, Tensor, shape, tensor};

#[derive(Module)]
struct Net {
    w: Tensor<f32, shape![2]>,
}
// instead of all: use castiron::grad::Grad;
// instead of all: use castiron::{Cpu, Device, Module, Tensor, shape, tensor};
// instead of all:
// instead of all: #[derive(Module)]
// instead of all: struct Net<D: Device = Cpu> {
// instead of all:     w: Tensor<f32, shape![2], D>,
// instead of all: }
// instead of all:
// instead of all: fn main() {
// instead of all:     let net = Net { w: tensor![1.0, 2.0] };
// instead of all:     let (_, _) = net.value_and_grad((), |net, ()| net.w.sum());
// instead of all: }

fn main() {
    let net = Net { w: tensor![1.0, 2.0] };
    let _ = net.value_and_grad((), |net, ()| net.w.sum());
}
