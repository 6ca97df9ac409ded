//! The second parameter of a tensor is a shape.
//!
//! Instead: `S: Shape`.
//!
//! names: S
//! names: shape
//! says: Shape

use castiron::Tensor;
// instead: use castiron::{Shape, Tensor};

fn total<S>(x: &Tensor<f32, S>) -> Tensor<f32, ()> {
// instead: fn total<S: Shape>(x: &Tensor<f32, S>) -> Tensor<f32, ()> {
    x.sum()
}

fn main() {}
