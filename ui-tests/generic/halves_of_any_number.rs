//! `Numeric` includes integers, which are not halved in place.
//!
//! Instead: `E: Float`, or return a new tensor.
//!
//! names: E
//! says: Float | Inexact

use castiron::{Numeric, Shape, Tensor};
// instead: use castiron::{Float, Numeric, Shape, Tensor};

fn halve<E: Numeric, S: Shape>(x: &mut Tensor<E, S>) {
// instead: fn halve<E: Float, S: Shape>(x: &mut Tensor<E, S>) {
    *x /= 2;
}

fn main() {}
