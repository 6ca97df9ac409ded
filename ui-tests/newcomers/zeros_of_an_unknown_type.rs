//! Dtype and shape are in the type, and something must say them.
//!
//! Instead: `Tensor::<f32, shape![2]>::zeros()`.
//!
//! names: type annotations
//! says: Tensor<
//! rustc: E0283

use castiron::Tensor;
// instead: use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::zeros();
    // instead: let x = Tensor::<f32, shape![2]>::zeros();
}
