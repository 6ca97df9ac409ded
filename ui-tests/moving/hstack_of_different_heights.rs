//! Tensors that are joined from left to right have the same number of rows.
//!
//! Instead: make both `(2, _)`, for example with `x.t()`.
//!
//! names: (D2, D3)
//! names: (D3, D2)
//! names: joined
//! says: same

use castiron::{Tensor, hstack, shape};

fn main() {
    let (x, y) = (Tensor::<f32, shape![2, 3]>::zeros(), Tensor::<f32, shape![3, 2]>::zeros());
    let _ = hstack((x, y));
    // instead: let _ = hstack((x, y.t()));
}
