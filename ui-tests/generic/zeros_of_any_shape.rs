//! A shape of which nothing is known may have sizes known at run time only.
//!
//! Instead: `zeros_like`, or `KnownShape`.
//!
//! names: S
//! says: KnownShape | sized | like

use castiron::{Shape, Tensor};

fn zeros<S: Shape>(x: &Tensor<f32, S>) -> Tensor<f32, S> {
    Tensor::zeros()
    // instead: x.zeros_like()
}

fn main() {}
