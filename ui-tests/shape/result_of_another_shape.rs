//! The shape of a result follows from those of its operands.
//!
//! Instead: the shape that the operation gives, here `(2, 4)`.
//!
//! names: D4
//! says: D4
//! rustc: E0308

use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 3]>::ones();
    let w = Tensor::<f32, shape![3, 4]>::ones();
    let y: Tensor<f32, shape![2, 3]> = x.matmul(&w);
    // instead: let y: Tensor<f32, shape![2, 4]> = x.matmul(&w);
}
