//! Both factors have at least one axis.
//!
//! Instead: `&x * &scale`.
//!
//! names: matmul
//! names: `()` | zero-dim
//! says: `*`

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let scale: Tensor<f32, ()> = Tensor::scalar(2.0);
    let _ = x.matmul(&scale);
    // instead: let _ = &x * &scale;
}
