//! The columns of the left are as many as the rows of the right.
//!
//! Instead: `images.matmul(weight.t())`.
//!
//! names: matmul
//! names: D7<D8<D4>>
//! names: D1<D0>
//! says: .t()

use castiron::{Tensor, dims, shape};

fn main() {
    dims! { Batch }
    let images: Tensor<f32, shape![Batch, 784]> = Tensor::zeros_sized([32, 784]);
    let weight: Tensor<f32, shape![10, 784]> = Tensor::zeros();
    let logits = images.matmul(&weight);
    // instead: let logits = images.matmul(weight.t());
}
