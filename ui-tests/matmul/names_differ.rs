//! Named inner dimensions are the same name.
//!
//! Instead: transpose one of them.
//!
//! names: Features
//! names: Classes
//! says: .t() | with_shape

use castiron::{Tensor, dims, shape};

fn main() {
    dims! { Features, Classes }
    let x: Tensor<f32, shape![_, Features]> = Tensor::zeros_sized([2, 3]);
    let w: Tensor<f32, shape![Classes, Features]> = Tensor::zeros_sized([3, 3]);
    let _ = x.matmul(&w);
    // instead: let _ = x.matmul(w.t());
}
