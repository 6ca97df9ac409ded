//! `mv` multiplies a matrix with a vector.
//!
//! Instead: `matmul`.
//!
//! names: mv
//! says: matmul

use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![3]>::ones();
    let _ = x.mv(&x);
    // instead: let _ = x.matmul(&x);
}
