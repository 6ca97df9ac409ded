//! Shell dtypes are compared with themselves.
//!
//! Instead: cast both to `f32`.
//!
//! names: eq
//! names: F8E4M3FN
//! names: F8E5M2
//! says: .to::<

use castiron::{F8E4M3FN, F8E5M2, Tensor, shape, shells};

fn main() {
    let x: Tensor<F8E4M3FN, shape![3]> = Tensor::zeros();
    let y: Tensor<F8E5M2, shape![3]> = Tensor::zeros();
    let _ = shells::eq(&x, &y);
    // instead: let _ = x.to::<f32>().eq(y.to::<f32>());
}
