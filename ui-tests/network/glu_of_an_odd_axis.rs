//! An axis of an odd size has no two halves.
//!
//! Instead: take another axis.
//!
//! names: an axis of size `D3` has no two halves of one size
//! says: even

use castiron::{Tensor, axis, shape};

fn main() {
    let x: Tensor<f32, shape![4, 3]> = Tensor::zeros();
    let _ = x.glu(axis![1]);
    // instead: let _ = x.glu(axis![0]);
}
