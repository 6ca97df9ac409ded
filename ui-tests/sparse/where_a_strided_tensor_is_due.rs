//! Operations on strided tensors do not take sparse ones.
//!
//! Instead: `.to_dense()`; a product with a sparse matrix on the right is `s.rmatmul(&x)`.
//!
//! names: strided
//! says: .to_dense()

use castiron::{Tensor, shape, tensor};

fn main() {
    let s = tensor![[0.0, 1.0], [2.0, 0.0]].to_sparse();
    let x: Tensor<f32, shape![2, 2]> = Tensor::ones();
    let _ = x.matmul(&s);
    // instead: let _ = x.matmul(s.to_dense());
}
