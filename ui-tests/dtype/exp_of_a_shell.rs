//! Shell dtypes have no functions.
//!
//! Instead: `x.to::<f32>().exp()`.
//!
//! names: F8E4M3FN
//! names: shell
//! says: .to::<f32>()

use castiron::{F8E4M3FN, Tensor, shape};

fn main() {
    let x: Tensor<F8E4M3FN, shape![3]> = Tensor::zeros();
    let _ = x.exp();
    // instead: let _ = x.to::<f32>().exp();
}
