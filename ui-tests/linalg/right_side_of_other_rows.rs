//! Equations have as many right sides as the matrix has rows.
//!
//! Instead: as many rows, or `b.t()`.
//!
//! names: solve
//! names: D3
//! names: D2
//! says: b.t()

use castiron::{Tensor, shape};

fn main() {
    let a = Tensor::<f64, shape![3, 3]>::eye();
    let b = Tensor::<f64, shape![2, 4]>::ones();
    // instead: let b = Tensor::<f64, shape![2, 3]>::ones();
    let _ = a.solve(&b);
    // instead: let _ = a.solve(b.t());
}
