//! Two unrelated devices need not be one.
//!
//! Instead: one `D` for both.

use castiron::{Device, Tensor, shape};

fn sum<D: Device, X: Device>(x: &Tensor<f32, shape![3], D>, y: &Tensor<f32, shape![3], X>) {
    let _ = x + y;
}

fn main() {}
