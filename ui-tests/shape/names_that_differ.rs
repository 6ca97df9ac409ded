//! A named dimension goes with itself and with 1 only.
//!
//! Instead: transpose or reduce until the names meet.
//!
//! names: Batch
//! names: Time
//! says: with_shape

use castiron::{Tensor, dims, shape};

fn main() {
    dims! { Batch, Time }
    let x: Tensor<f32, shape![Batch]> = Tensor::ones_sized([3]);
    let y: Tensor<f32, shape![Time]> = Tensor::ones_sized([3]);
    // instead: let y: Tensor<f32, shape![Batch]> = Tensor::ones_sized([3]);
    let _ = &x + &y;
}
