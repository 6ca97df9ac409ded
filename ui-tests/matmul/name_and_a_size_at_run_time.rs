//! A name is not the same as `_`.
//!
//! Instead: `.with_shape::<shape![Rows, Columns]>()`.
//!
//! names: matmul
//! names: Columns
//! names: Dyn
//! says: with_shape

use castiron::{Tensor, dims, shape};

fn main() {
    dims! { Rows, Columns }
    let z: Tensor<f32, shape![Rows, Columns]> = Tensor::zeros_sized([5, 2]);
    let axes: Tensor<f32, shape![_, _]> = Tensor::zeros_sized([2, 2]);
    let _ = z.matmul(axes.t());
    // instead: let _ = z.matmul(axes.t().with_shape::<shape![Columns, _]>());
}
