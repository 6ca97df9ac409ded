//! Least squares have an element of the right side for each row of the matrix.
//!
//! Instead: a vector of as many elements.
//!
//! names: lstsq
//! names: D9
//! names: D8
//! says: as many

use castiron::{Tensor, shape};

fn main() {
    let a = Tensor::<f64, shape![9, 2]>::ones();
    let b = Tensor::<f64, shape![8]>::ones();
    // instead: let b = Tensor::<f64, shape![9]>::ones();
    let _ = a.lstsq(&b, None);
}
