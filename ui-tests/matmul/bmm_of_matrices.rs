//! `bmm` multiplies batches of matrices.
//!
//! Instead: `matmul`, or an axis put in front.
//!
//! names: bmm | rank 3 | three axes
//! says: matmul

use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 3]>::ones();
    let w = Tensor::<f32, shape![3, 4]>::ones();
    let _ = x.bmm(&w);
    // instead: let _ = x.matmul(&w);
}
