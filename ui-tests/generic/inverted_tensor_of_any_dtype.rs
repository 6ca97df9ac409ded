//! `Dtype` includes floats, which have no `!`.
//!
//! Instead: `E: Bits`.
//!
//! names: bitwise_not | unary operator `!`
//! says: Bits
//! rustc: E0600

use castiron::{Dtype, Shape, Tensor};
// instead: use castiron::{Bits, Dtype, Shape, Tensor};

fn inverted<E: Dtype, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
// instead: fn inverted<E: Bits, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
    !x
}

fn main() {}
