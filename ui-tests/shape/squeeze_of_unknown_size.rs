//! The rank of a result is known to the compiler.
//!
//! Instead: state the size: `x.with_shape::<shape![1, 3]>()`, then `squeeze`.
//!
//! names: run time | axis 0
//! says: with_shape

use castiron::{Tensor, axis, shape};

fn main() {
    let x: Tensor<f32, shape![_, 3]> = Tensor::zeros_sized([1, 3]);
    // instead: let x: Tensor<f32, shape![1, 3]> = Tensor::zeros();
    let _ = x.squeeze_axis(axis![0]);
}
