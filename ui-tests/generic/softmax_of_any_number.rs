//! `softmax` keeps its dtype, which must be floating-point.
//!
//! Instead: `E: Float`.
//!
//! names: softmax
//! names: E
//! says: Float | Inexact

use castiron::{Numeric, Shape, Tensor, axis};
// instead: use castiron::{Float, Numeric, Shape, Tensor, axis};

fn attention<E: Numeric, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
// instead: fn attention<E: Float, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
    x.softmax(axis![-1])
}

fn main() {}
