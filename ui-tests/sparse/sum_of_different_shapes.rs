//! Sparse tensors are added to tensors of their own shape: there is no broadcasting between them.
//!
//! Instead: make one of them dense, `.to_dense()`.
//!
//! names: shape
//! says: .to_dense()

use castiron::{SparseTensor, Tensor, shape};

fn main() {
    let s: SparseTensor<f32, shape![2, 3]> = Tensor::<f32, shape![2, 3]>::sparse_zeros();
    let row: SparseTensor<f32, shape![1, 3]> = Tensor::<f32, shape![1, 3]>::sparse_zeros();
    let _ = &s + &row;
    // instead: let _ = s.to_dense() + row.to_dense();
}
