//! Tensors have up to eight axes.
//!
//! Instead: flatten some of them.

use castiron::{Tensor, shape};

fn main() {
    let _: Tensor<f32, shape![1, 2, 3, 4, 5, 6, 7, 8, 9]>;
}
