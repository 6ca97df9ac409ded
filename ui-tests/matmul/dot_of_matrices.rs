//! `dot` multiplies two vectors.
//!
//! Instead: `matmul`.
//!
//! names: dot
//! names: (D2, D2)
//! says: matmul

use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 2]>::ones();
    let _ = x.dot(&x);
    // instead: let _ = x.matmul(&x);
}
