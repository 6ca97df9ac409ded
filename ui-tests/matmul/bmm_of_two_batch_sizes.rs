//! `bmm` takes as many matrices on the left as on the right.
//!
//! Instead: `matmul`, which broadcasts a batch of one.
//!
//! names: bmm
//! names: D2
//! names: D5
//! says: matmul

use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 3, 4]>::ones();
    let w = Tensor::<f32, shape![5, 4, 3]>::ones();
    // instead: let w = Tensor::<f32, shape![1, 4, 3]>::ones();
    let _ = x.bmm(&w);
    // instead: let _ = x.matmul(&w);
}
