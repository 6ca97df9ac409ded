//! A matrix product needs axes whose sizes meet.
//!
//! Instead: name the axes: `Tensor<E, (M, K)>` and `Tensor<E, (K, N)>`.

use castiron::{Numeric, Shape, Tensor};

fn square<E: Numeric, S: Shape>(x: &Tensor<E, S>) {
    let _ = x.matmul(x);
}

fn main() {}
