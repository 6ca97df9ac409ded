//! Matrices are factored in floats and complex numbers of 32 bits or more.
//!
//! Instead: cast first.
//!
//! names: linear algebra
//! names: i64
//! says: .to::<f32>()

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<i64, shape![3, 3]> = Tensor::ones();
    let _ = x.svdvals();
    // instead: let _ = x.to::<f32>().svdvals();
}
