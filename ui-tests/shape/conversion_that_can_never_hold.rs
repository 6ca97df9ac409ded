//! Converting a shape type states sizes; it does not change them.
//!
//! Instead: `reshape` or `narrow`.
//!
//! names: (Dyn, D3)
//! names: (Dyn, D4)
//! says: reshape | narrow

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![_, 3]> = Tensor::zeros_sized([2, 3]);
    let _ = x.with_shape::<shape![_, 4]>();
    // instead: let _ = x.reshape::<shape![1, 6]>();
}
