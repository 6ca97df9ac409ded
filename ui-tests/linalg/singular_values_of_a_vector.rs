//! Matrices have singular values.
//!
//! Instead: the norm of a vector is the one it would have.
//!
//! names: is no matrix
//! says: at least two axes

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![4]> = Tensor::ones();
    let _ = x.svdvals();
    // instead: let _ = x.unsqueeze(castiron::axis![0]).svdvals();
}
