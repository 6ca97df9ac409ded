//! Shell dtypes have no arithmetic, with scalars neither.
//!
//! Instead: `x.to::<f32>() * 2.0`.
//!
//! names: F8E5M2
//! names: shell
//! says: .to::<f32>()

use castiron::{F8E5M2, Tensor, shape};

fn main() {
    let x: Tensor<F8E5M2, shape![3]> = Tensor::zeros();
    let _ = &x * 2.0;
    // instead: let _ = x.to::<f32>() * 2.0;
}
