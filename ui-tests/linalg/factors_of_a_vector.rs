//! Matrices have factors.
//!
//! Instead: make a matrix of the vector.
//!
//! names: is no matrix
//! says: .unsqueeze(axis![0])

use castiron::{Reduced, Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![4]> = Tensor::ones();
    let _ = x.qr(Reduced);
    // instead: let _ = x.unsqueeze(castiron::axis![0]).qr(Reduced);
}
