//! `X A = B`: the right side has a column for each column of the matrix.
//!
//! Instead: `solve`, where rows go together, or a right side of as many columns.
//!
//! names: D2
//! names: D3
//! says: `solve`

use castiron::{Tensor, shape};

fn main() {
    let a = Tensor::<f64, shape![3, 3]>::eye();
    let b = Tensor::<f64, shape![3, 2]>::ones();
    let _ = a.rsolve(&b);
    // instead: let _ = a.solve(&b);
}
