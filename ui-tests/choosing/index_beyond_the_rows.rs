//! An index of `gather` leads along one axis, and is no larger than the tensor along the others.
//!
//! Instead: an index of two rows.
//!
//! names: index
//! names: (D3, D1)
//! names: (D2, D4)
//! says: no larger

use castiron::{Tensor, axis, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 4]>::ones();
    let index = Tensor::<i64, shape![3, 1]>::zeros();
    // instead: let index = Tensor::<i64, shape![2, 1]>::zeros();
    let _ = x.gather(axis![1], &index);
}
