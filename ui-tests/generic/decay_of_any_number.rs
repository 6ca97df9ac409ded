//! `A *= B` needs that the promoted dtype may be cast to `A`, for numbers of Rust's too.
//!
//! Instead: a bound that says so, or return a new tensor.
//!
//! names: E
//! names: f32 | cast
//! says: Float | Inexact

use castiron::{Numeric, Shape, Tensor};
// instead: use castiron::{Float, Numeric, Shape, Tensor};

fn decay<E: Numeric, S: Shape>(x: &mut Tensor<E, S>) {
// instead: fn decay<E: Float, S: Shape>(x: &mut Tensor<E, S>) {
    *x *= 0.9;
}

fn main() {}
