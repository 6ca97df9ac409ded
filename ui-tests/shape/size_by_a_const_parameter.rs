//! `shape!` takes literals, names, and types that are dimensions.
//!
//! Instead: `N: Dim`.
//!
//! names: N
//! says: Dim
//! rustc: E0573

use castiron::{Tensor, shape};
// instead: use castiron::{Dim, Tensor, shape};

fn norm<const N: usize>(x: &Tensor<f32, shape![N]>) -> Tensor<f32, ()> {
// instead: fn norm<N: Dim>(x: &Tensor<f32, shape![N]>) -> Tensor<f32, ()> {
    x.norm(2.0)
}

fn main() {}
