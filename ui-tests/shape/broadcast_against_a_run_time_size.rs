//! Known sizes differ although the others are known at run time only.
//!
//! Instead: the same number of columns.
//!
//! names: broadcast
//! names: D3
//! names: D4
//! says: equal | unsqueeze

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![_, 3]> = Tensor::ones_sized([2, 3]);
    let y: Tensor<f32, shape![_, 4]> = Tensor::ones_sized([2, 4]);
    // instead: let y: Tensor<f32, shape![_, 1]> = Tensor::ones_sized([2, 1]);
    let _ = &x * &y;
}
