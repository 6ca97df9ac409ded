//! `Element` includes the shell dtypes, which do not compute.
//!
//! Instead: `E: Dtype`.
//!
//! names: E
//! names: compute
//! says: Dtype

use castiron::{Element, Shape, Tensor};

fn double<E: Element, S: Shape>(x: &Tensor<E, S>) {
// instead: fn double<E: castiron::Dtype, S: Shape>(x: &Tensor<E, S>) {
    let _ = x + x;
}

fn main() {}
