//! `Dtype` includes `bool`, which has no unary `-`.
//!
//! Instead: `E: Numeric`.
//!
//! names: neg | unary operator `-`
//! says: Numeric
//! rustc: E0600

use castiron::{Dtype, Shape, Tensor};
// instead: use castiron::{Dtype, Numeric, Shape, Tensor};

fn opposite<E: Dtype, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
// instead: fn opposite<E: Numeric, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
    -x
}

fn main() {}
