//! A size in a type is known to the compiler.
//!
//! Instead: `_` for sizes known at run time, and the sizes as values.
//!
//! names: n
//! says: _ | sized | dims!

use castiron::{Tensor, shape};

fn main() {
    let n = 2;
    let x: Tensor<f32, shape![n, 3]> = Tensor::zeros();
    // instead: let x: Tensor<f32, shape![_, 3]> = Tensor::zeros_sized([n, 3]);
}
