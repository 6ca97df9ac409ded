//! A shape is made of dimensions.
//!
//! Instead: `N: Dim`.
//!
//! names: `N`
//! names: dimension
//! says: Dim

use castiron::Tensor;
// instead: use castiron::{Dim, Tensor};

fn total<N>(x: &Tensor<f32, (N,)>) -> Tensor<f32, ()> {
// instead: fn total<N: Dim>(x: &Tensor<f32, (N,)>) -> Tensor<f32, ()> {
    x.sum()
}

fn main() {}
