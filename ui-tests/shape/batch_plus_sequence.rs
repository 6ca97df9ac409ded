//! Names differ although the sizes may be the same.
//!
//! Instead: state the other name with `with_shape`.
//!
//! names: Batch
//! names: Time
//! says: with_shape

use castiron::{Tensor, dims, shape};

dims! { Batch, Time }

fn main() {
    let x: Tensor<f32, shape![Batch, 4]> = Tensor::ones_sized([3, 4]);
    let y: Tensor<f32, shape![Time, 4]> = Tensor::ones_sized([3, 4]);
    // instead: let y: Tensor<f32, shape![Batch, 4]> = Tensor::ones_sized([3, 4]);
    let _ = &x + &y;
}
