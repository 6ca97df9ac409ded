//! Shell dtypes have no arithmetic, with scalars neither.
//!
//! Instead: `x.to::<f32>() * 2.0`.

use castiron::{F8E5M2, Tensor, shape};

fn main() {
    let x: Tensor<F8E5M2, shape![3]> = Tensor::zeros();
    let _ = &x * 2.0;
}
