//! Sizes are whole numbers.
//!
//! Instead: `shape![2, 3]`.
//!
//! names: size | dimension
//! says: whole | integer | number

use castiron::{Tensor, shape};

fn main() {
    let _: Tensor<f32, shape![2.0, 3]> = Tensor::zeros();
    // instead: let _: Tensor<f32, shape![2, 3]> = Tensor::zeros();
}
