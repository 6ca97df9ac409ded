//! Two unrelated shapes need not broadcast.
//!
//! Instead: one `S` for both.
//!
//! names: `S`
//! names: `T`
//! names: broadcast
//! says: one | same | Broadcast

use castiron::{Shape, Tensor};

fn sum<S: Shape, T: Shape>(x: &Tensor<f32, S>, y: &Tensor<f32, T>) {
// instead: fn sum<S: Shape>(x: &Tensor<f32, S>, y: &Tensor<f32, S>) {
    let _ = x + y;
}

fn main() {}
