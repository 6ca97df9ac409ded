//! Each index of `scatter` takes an element of the source.
//!
//! Instead: a source of the index's shape, or `scatter_value`.
//!
//! names: index of shape `(D2, D3)`
//! names: source of shape `(D2, D2)`
//! says: scatter_value

use castiron::{Tensor, axis, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 4]>::zeros();
    let index = Tensor::<i64, shape![2, 3]>::zeros();
    let source = Tensor::<f32, shape![2, 2]>::ones();
    // instead: let source = Tensor::<f32, shape![2, 3]>::ones();
    let _ = x.scatter(axis![1], &index, &source);
}
