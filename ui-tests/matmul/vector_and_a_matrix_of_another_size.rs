//! A vector takes a matrix with a row for each of its elements.
//!
//! Instead: transpose the matrix.
//!
//! names: matmul
//! names: D3
//! names: D2
//! says: .t()

use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![3]>::ones();
    let weight = Tensor::<f32, shape![2, 3]>::ones();
    let _ = x.matmul(&weight);
    // instead: let _ = x.matmul(weight.t());
}
