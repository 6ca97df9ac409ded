//! `Numeric` includes floats, which have no bits to combine.
//!
//! Instead: `E: Integer`.
//!
//! names: bitwise_and
//! names: E
//! says: Bits | Integer

use castiron::{Numeric, Shape, Tensor};
// instead: use castiron::{Integer, Numeric, Shape, Tensor};

fn low_bits<E: Numeric, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
// instead: fn low_bits<E: Integer, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
    x & x
}

fn main() {}
