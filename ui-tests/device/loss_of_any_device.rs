//! Code generic over the device reads no element: not every device has elements.
//!
//! Instead: return the tensor, or move it to `Cpu` first.
//!
//! names: D
//! says: .to_device | D:
//! rustc: E0599

use castiron::{Device, Float, Shape, Tensor};

fn loss<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> E {
    x.square().mean().item()
    // instead: x.square().mean().to_device::<castiron::Cpu>().unwrap().item()
}

fn main() {
    loss(&castiron::tensor![1.0, 2.0]);
}
