//! An axis of an odd size has no two halves.
//!
//! Instead: take another axis.
//!
//! names: `D3` does not divide into `D2` equal parts
//! says: left over

use castiron::{Tensor, axis, shape};

fn main() {
    let x: Tensor<f32, shape![4, 3]> = Tensor::zeros();
    let _ = x.glu(axis![1]);
    // instead: let _ = x.glu(axis![0]);
}
