//! An element of generic dtype is compared as a tensor is: not every dtype has an order.
//!
//! Instead: `E: Ordered`, or compare tensors.
//!
//! names: >
//! says: PartialOrd
//! rustc: E0369

use castiron::{Dtype, Shape, Tensor};
// instead: use castiron::{Dtype, Ordered, Shape, Tensor};

fn positive<E: Dtype, S: Shape>(x: &Tensor<E, S>, bound: E) -> bool {
// instead: fn positive<E: Ordered, S: Shape>(x: &Tensor<E, S>, bound: E) -> bool {
    x.iter().all(|value| *value > bound)
    // instead: x.gt(bound).all().item()
}

fn main() {}
