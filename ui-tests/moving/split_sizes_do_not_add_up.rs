//! The sizes of parts add up to the size of the axis.
//!
//! Instead: `x.split_into::<shape![4, 6], _>(axis![1])`.
//!
//! names: parts
//! names: (D4, D5)
//! says: add up | sum

use castiron::{Tensor, axis, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 10]>::zeros();
    let _ = x.split_into::<shape![4, 5], _>(axis![1]);
    // instead: let _ = x.split_into::<shape![4, 6], _>(axis![1]);
}
