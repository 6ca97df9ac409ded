//! Leading axes broadcast by name.
//!
//! Instead: one name for both, stated with `with_shape`.
//!
//! names: Batch
//! names: Head
//! says: with_shape

use castiron::{Tensor, dims, shape};

dims! { Batch, Head }

fn main() {
    let x: Tensor<f32, shape![Batch, 2, 3]> = Tensor::ones_sized([4, 2, 3]);
    let y: Tensor<f32, shape![Head, 3, 2]> = Tensor::ones_sized([4, 3, 2]);
    // instead: let y: Tensor<f32, shape![Batch, 3, 2]> = Tensor::ones_sized([4, 3, 2]);
    let _ = x.matmul(&y);
}
