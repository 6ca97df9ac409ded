//! `Dtype` includes `bool`, which has no `-`.
//!
//! Instead: `E: Numeric`.

use castiron::{Dtype, Shape, Tensor};

fn difference<E: Dtype, S: Shape>(x: &Tensor<E, S>, y: &Tensor<E, S>) -> Tensor<E, S> {
    x - y
}

fn main() {}
