//! Two unrelated devices need not be one.
//!
//! Instead: one `D` for both.
//!
//! names: devices
//! names: `D`
//! names: `X`
//! says: one `D` | same | .to_device

use castiron::{Device, Tensor, shape};

fn sum<D: Device, X: Device>(x: &Tensor<f32, shape![3], D>, y: &Tensor<f32, shape![3], X>) {
// instead: fn sum<D: Device>(x: &Tensor<f32, shape![3], D>, y: &Tensor<f32, shape![3], D>) {
    let _ = x + y;
}

fn main() {}
