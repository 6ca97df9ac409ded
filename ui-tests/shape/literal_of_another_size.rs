//! The shape of a literal is that of its lists.
//!
//! Instead: the size that it has.
//!
//! names: D2
//! names: D3
//! says: D3
//! rustc: E0308

use castiron::{Tensor, shape, tensor};

fn main() {
    let x: Tensor<f32, shape![2]> = tensor![1.0, 2.0, 3.0];
    // instead: let x: Tensor<f32, shape![3]> = tensor![1.0, 2.0, 3.0];
}
