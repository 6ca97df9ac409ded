//! `Dtype` includes integers and bools, which have no mean.
//!
//! Instead: `E: Inexact`, or `Float`.
//!
//! names: mean
//! names: E
//! says: Inexact | Float

use castiron::{Dtype, Shape, Tensor};

fn center<E: Dtype, S: Shape>(x: &Tensor<E, S>) {
// instead: fn center<E: castiron::Inexact, S: Shape>(x: &Tensor<E, S>) {
    let _ = x.mean();
}

fn main() {}
