//! Least squares have as many rows on both sides.
//!
//! Instead: right-hand sides with as many rows.
//!
//! names: `A` has `D5` rows
//! names: right-hand side `D4`
//! says: as many rows

use castiron::{Tensor, shape};

fn main() {
    let a = Tensor::<f64, shape![5, 2]>::eye();
    let b = Tensor::<f64, shape![4, 1]>::ones();
    // instead: let b = Tensor::<f64, shape![5, 1]>::ones();
    let _ = a.lstsq(&b, None);
}
