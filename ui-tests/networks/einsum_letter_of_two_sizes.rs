//! A letter of `einsum!` names one size.
//!
//! Instead: name axes of other sizes by other letters.
//!
//! names: einsum!: the letter 'j' names two sizes, `D3` and `D4`
//! says: axes with one letter have one size

use castiron::{Tensor, einsum, shape};

fn main() {
    let (a, b): (Tensor<f32, shape![2, 3]>, Tensor<f32, shape![4, 5]>) = (Tensor::zeros(), Tensor::zeros());
    let _ = einsum!("ij,jk->ik", a, b);
    // instead: let _ = einsum!("ij,lk->ik", a, b);
}
