//! A sparse tensor that is multiplied is a matrix.
//!
//! Instead: multiply the strided tensor.
//!
//! names: D2, D3, D4
//! says: strided tensors

use castiron::{Tensor, shape};

fn main() {
    let batch = Tensor::<f32, shape![2, 3, 4]>::ones().to_sparse();
    let x: Tensor<f32, shape![4, 5]> = Tensor::ones();
    let _ = batch.matmul(&x);
    // instead: let _ = batch.to_dense().matmul(&x);
}
