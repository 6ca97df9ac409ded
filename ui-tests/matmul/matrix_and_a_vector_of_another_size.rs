//! A matrix takes a vector with an element for each of its columns.
//!
//! Instead: transpose the matrix, or take another vector.
//!
//! names: matmul
//! names: D3
//! names: D2
//! says: .t()

use castiron::{Tensor, shape};

fn main() {
    let weight = Tensor::<f32, shape![2, 3]>::ones();
    let x = Tensor::<f32, shape![2]>::ones();
    let _ = weight.matmul(&x);
    // instead: let _ = weight.t().matmul(&x);
}
