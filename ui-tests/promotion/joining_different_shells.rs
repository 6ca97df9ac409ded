//! Joining promotes, and shell dtypes do not.
//!
//! Instead: cast one of the two.
//!
//! names: F8E4M3FN
//! names: shell
//! says: .to::<f32>()

use castiron::{F8E4M3FN, F8E5M2, Tensor, axis, cat, shape};

fn main() {
    let x: Tensor<F8E4M3FN, shape![3]> = Tensor::zeros();
    let y: Tensor<F8E5M2, shape![3]> = Tensor::zeros();
    let _ = cat((&x, &y), axis![0]);
    // instead: let _ = cat((&x, y.to::<F8E4M3FN>()), axis![0]);
}
