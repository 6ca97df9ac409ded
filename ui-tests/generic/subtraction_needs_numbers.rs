//! `Dtype` includes `bool`, which has no `-`.
//!
//! Instead: `E: Numeric`.
//!
//! names: sub
//! names: E
//! says: Numeric

use castiron::{Dtype, Shape, Tensor};

fn difference<E: Dtype, S: Shape>(x: &Tensor<E, S>, y: &Tensor<E, S>) -> Tensor<E, S> {
// instead: fn difference<E: castiron::Numeric, S: Shape>(x: &Tensor<E, S>, y: &Tensor<E, S>) -> Tensor<E, S> {
    x - y
}

fn main() {}
