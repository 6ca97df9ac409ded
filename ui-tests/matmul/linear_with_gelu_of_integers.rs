//! An activation admits the dtype of the product.
//!
//! Instead: floats, or `ops::relu {}`.
//!
//! names: gelu
//! names: i64
//! says: .to::< | float

use castiron::{Tensor, ops, shape};

fn main() {
    let x: Tensor<i64, shape![8, 2]> = Tensor::zeros();
    let weight: Tensor<i64, shape![3, 2]> = Tensor::zeros();
    let _ = x.linear_with(&weight, None, ops::gelu {});
    // instead: let _ = x.linear_with(&weight, None, ops::relu {});
}
