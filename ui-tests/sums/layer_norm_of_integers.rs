//! Normalising is for floating-point numbers.
//!
//! Instead: `x.to::<f32>().layer_norm(…)`.
//!
//! names: layer_norm
//! names: i64
//! says: .to::<f32>()

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<i64, shape![2, 3]> = Tensor::zeros();
    let _ = x.layer_norm::<shape![3]>(None, None, 1e-5);
    // instead: let _ = x.to::<f32>().layer_norm::<shape![3]>(None, None, 1e-5);
}
