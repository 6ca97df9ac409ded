//! `Dtype` includes complex numbers, which have no order.
//!
//! Instead: `E: Ordered`.
//!
//! names: gt
//! names: E
//! says: Ordered

use castiron::{Dtype, Shape, Tensor};

fn positive<E: Dtype, S: Shape>(x: &Tensor<E, S>) -> Tensor<bool, S> {
// instead: fn positive<E: castiron::Ordered, S: Shape>(x: &Tensor<E, S>) -> Tensor<bool, S> {
    x.gt(0)
}

fn main() {}
