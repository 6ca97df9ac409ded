//! The sum of a sparse and a strided tensor is strided: a sparse tensor can't become it in place.
//!
//! Instead: `let x = &s + &x`, or add the sparse tensor to the strided one: `x += &s`.
//!
//! names: written
//! names: sparse
//! says: .to_dense() | let x

use castiron::{Tensor, shape, tensor};

fn main() {
    let mut s = tensor![[0.0, 1.0], [2.0, 0.0]].to_sparse();
    let x: Tensor<f32, shape![2, 2]> = Tensor::ones();
    s += &x;
    // instead: let _ = &s + &x;
}
