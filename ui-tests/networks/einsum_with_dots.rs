//! `einsum!` names every axis by a letter.
//!
//! Instead: write a letter for each, or call `any::einsum`.
//!
//! names: einsum! names every axis by a letter: `...` is for `any::einsum`
//! says: any::einsum

use castiron::{Tensor, einsum, shape};

fn main() {
    let a: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let _ = einsum!("...j->j", a);
    // instead: let _ = einsum!("ij->j", a);
}
