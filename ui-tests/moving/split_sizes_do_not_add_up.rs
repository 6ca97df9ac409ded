//! The sizes of parts add up to the size of the axis.
//!
//! Instead: `x.split_into::<shape![4, 6], _>(axis![1])`.

use castiron::{Tensor, axis, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 10]>::zeros();
    let _ = x.split_into::<shape![4, 5], _>(axis![1]);
}
