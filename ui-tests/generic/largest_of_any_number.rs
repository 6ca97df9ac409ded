//! `Numeric` includes complex numbers, which have no order.
//!
//! Instead: `E: Real`.
//!
//! names: amax
//! names: E
//! says: Real | Ordered

use castiron::{Numeric, Shape, Tensor};
// instead: use castiron::{Numeric, Real, Shape, Tensor};

fn peak<E: Numeric, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, ()> {
// instead: fn peak<E: Real, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, ()> {
    x.amax()
}

fn main() {}
