//! Matrices have determinants.
//!
//! Instead: make a matrix of the vector.
//!
//! names: is no matrix
//! says: at least two axes

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![4]> = Tensor::ones();
    let _ = x.det();
    // instead: let _ = x.diag().det();
}
