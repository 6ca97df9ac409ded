//! The square root of integers is `f32`: for every dtype the result is not `E`.
//!
//! Instead: `E: Float`.
//!
//! names: E
//! says: Float | Inexact
//! rustc: E0308

use castiron::{Dtype, Shape, Tensor};
// instead: use castiron::{Dtype, Float, Shape, Tensor};

fn root<E: Dtype, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
// instead: fn root<E: Float, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
    x.sqrt()
}

fn main() {}
