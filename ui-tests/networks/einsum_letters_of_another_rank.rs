//! `einsum!` names every axis by a letter.
//!
//! Instead: write as many letters as there are axes.
//!
//! names: einsum!: `2` letters do not name the axes of a tensor of shape `(D2, D3, D4)`
//! says: each axis has one letter

use castiron::{Tensor, einsum, shape};

fn main() {
    let a: Tensor<f32, shape![2, 3, 4]> = Tensor::zeros();
    let _ = einsum!("ij->i", a);
    // instead: let _ = einsum!("ijk->i", a);
}
