//! The third parameter of a tensor is a device.
//!
//! Instead: `D: Device`.
//!
//! names: D
//! names: device
//! says: Device

use castiron::{Shape, Tensor};
// instead: use castiron::{Device, Shape, Tensor};

fn total<S: Shape, D>(x: &Tensor<f32, S, D>) -> Tensor<f32, (), D> {
// instead: fn total<S: Shape, D: Device>(x: &Tensor<f32, S, D>) -> Tensor<f32, (), D> {
    x.sum()
}

fn main() {}
