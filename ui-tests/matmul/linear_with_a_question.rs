//! An activation gives the dtype it takes.
//!
//! Instead: `x.linear(&weight, None).isnan()`.
//!
//! names: isnan
//! names: activation
//! says: without | after | .isnan() | relu

use castiron::{Tensor, ops, shape};

fn main() {
    let x: Tensor<f32, shape![8, 2]> = Tensor::zeros();
    let weight: Tensor<f32, shape![3, 2]> = Tensor::zeros();
    let _ = x.linear_with(&weight, None, ops::isnan {});
    // instead: let _ = x.linear(&weight, None).isnan();
}
