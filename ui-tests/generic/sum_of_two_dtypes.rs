//! A sum of two dtypes has the promoted one.
//!
//! Instead: `Promoted<A, B>`.
//!
//! names: Promoted
//! says: Promoted
//! rustc: E0308

use castiron::{Dtype, Shape, Tensor};
// instead: use castiron::{Dtype, Promoted, Shape, Tensor};

fn add<A: Dtype, B: Dtype, S: Shape>(x: &Tensor<A, S>, y: &Tensor<B, S>) -> Tensor<A, S> {
// instead: fn add<A: Dtype, B: Dtype, S: Shape>(x: &Tensor<A, S>, y: &Tensor<B, S>) -> Tensor<Promoted<A, B>, S> {
    x + y
}

fn main() {}
