//! A matrix product needs axes whose sizes meet.
//!
//! Instead: name the axes: `Tensor<E, (M, K)>` and `Tensor<E, (K, N)>`.
//!
//! names: matmul
//! names: S
//! says: (M, K) | axes

use castiron::{Numeric, Shape, Tensor};

fn square<E: Numeric, S: Shape>(x: &Tensor<E, S>) {
// instead: fn square<E: Numeric, N: castiron::Dim>(x: &Tensor<E, (N, N)>) {
    let _ = x.matmul(x);
}

fn main() {}
