//! A system has an equation for each row of `A`, and of the right-hand side.
//!
//! Instead: right-hand sides with as many rows.
//!
//! names: `A` has `D3` rows
//! names: right-hand side `D4`
//! says: rsolve

use castiron::{Tensor, shape};

fn main() {
    let a = Tensor::<f64, shape![3, 3]>::eye();
    let b = Tensor::<f64, shape![4, 2]>::ones();
    // instead: let b = Tensor::<f64, shape![3, 2]>::ones();
    let _ = a.solve(&b);
}
