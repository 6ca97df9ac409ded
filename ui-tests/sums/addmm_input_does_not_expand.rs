//! The input of `addmm` expands to the shape of the product.
//!
//! Instead: an input of 4 elements, or of shape (2, 1).
//!
//! names: expanded | addmm
//! says: size 1 | of 1 | repeat

use castiron::{Tensor, shape};

fn main() {
    let input: Tensor<f32, shape![2]> = Tensor::zeros();
    // instead: let input: Tensor<f32, shape![4]> = Tensor::zeros();
    let a: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let b: Tensor<f32, shape![3, 4]> = Tensor::zeros();
    let _ = input.addmm(&a, &b, 1, 1);
}
