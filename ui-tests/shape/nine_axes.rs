//! Tensors have up to eight axes.
//!
//! Instead: flatten some of them.
//!
//! names: eight axes
//! says: eight

use castiron::{Tensor, shape};

fn main() {
    let _: Tensor<f32, shape![1, 2, 3, 4, 5, 6, 7, 8, 9]>;
    // instead: let _: Tensor<f32, shape![2, 3, 4, 5, 6, 7, 8, 9]>;
}
