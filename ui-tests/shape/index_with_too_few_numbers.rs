//! An element has an index for each axis.
//!
//! Instead: one for each, or a view with `slice`.
//!
//! names: (D2, D2, D2)
//! names: index
//! says: each axis | slice

use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 2, 2]>::zeros();
    let _ = x[(0, 1)];
    // instead: let _ = x[(0, 1, 0)];
}
