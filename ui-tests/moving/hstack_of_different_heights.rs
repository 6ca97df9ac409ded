//! Tensors that are joined from left to right have the same number of rows.
//!
//! Instead: make both `(2, _)`, for example with `x.t()`.

use castiron::{Tensor, hstack, shape};

fn main() {
    let (x, y) = (Tensor::<f32, shape![2, 3]>::zeros(), Tensor::<f32, shape![3, 2]>::zeros());
    let _ = hstack((x, y));
}
