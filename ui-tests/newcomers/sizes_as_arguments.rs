//! Sizes are in the type; those known at run time only are given to `zeros_sized`.
//!
//! Instead: `Tensor::<f32, shape![2, 3]>::zeros()`.
//!
//! names: takes 0 arguments
//! says: zeros()
//! rustc: E0061

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::zeros(2, 3);
    // instead: let x: Tensor<f32, shape![2, 3]> = Tensor::zeros();
}
