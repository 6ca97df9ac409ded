//! Pivots go with the factors that they were found with.
//!
//! Instead: the pivots that `lu_factor` gives beside the factors.
//!
//! names: lu_solve
//! says: lu_factor

use castiron::{Tensor, shape, tensor};

fn main() {
    let (lu, pivots) = Tensor::<f32, shape![3, 3]>::eye().lu_factor();
    let (_, pivots) = tensor![[2.0, 0.0], [0.0, 4.0]].lu_factor();
    // instead:
    let _ = lu.lu_solve(&pivots, &Tensor::<f32, shape![3, 1]>::ones(), false);
}
