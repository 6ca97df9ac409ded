//! Promotion is not defined for shell dtypes.
//!
//! Instead: cast first: `x.to::<f32>() + &y`.
//!
//! names: add
//! names: F8E4M3FN
//! says: .to::<f32>()

use castiron::{F8E4M3FN, Tensor, shape};

fn main() {
    let x: Tensor<F8E4M3FN, shape![3]> = Tensor::zeros();
    let y: Tensor<f32, shape![3]> = Tensor::zeros();
    let _ = &y + &x;
    // instead: let _ = &y + x.to::<f32>();
}
