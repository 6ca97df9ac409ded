//! Only tensors of at most two axes are transposed by `t`.
//!
//! Instead: `Tensor<E, (M, N)>`.
//!
//! names: `t`
//! names: S
//! says: (M, N) | bound | transpose

use castiron::{Dtype, Shape, Tensor};
// instead: use castiron::{Dim, Dtype, Shape, Tensor};

fn gram<E: Dtype, S: Shape>(x: &Tensor<E, S>) {
// instead: fn gram<E: Dtype, M: Dim, N: Dim>(x: &Tensor<E, (M, N)>) {
    let _ = x.t();
}

fn main() {}
