//! The axes of a result are axes of operands.
//!
//! Instead: name one that an operand has.
//!
//! names: no operand has the axis `k` of the result
//! says: no operand

use castiron::{Tensor, einsum, shape};

fn main() {
    let a: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let _ = einsum!("ij->k", a);
    // instead: let _ = einsum!("ij->j", a);
}
