//! Triangles are those of matrices.
//!
//! Instead: `x.diag().tril(0)`, or `x.reshape::<shape![3, 3]>()` first.
//!
//! names: matrix
//! says: diag | reshape | unsqueeze

use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![9]>::zeros();
    let _ = x.tril(0);
    // instead: let _ = x.diag().tril(0);
}
