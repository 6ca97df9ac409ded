//! An outer product is of two vectors.
//!
//! Instead: flatten them first.
//!
//! names: outer
//! says: flatten

use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 2]>::ones();
    let y = Tensor::<f32, shape![3]>::ones();
    let _ = x.outer(&y);
    // instead: let _ = x.flatten().outer(&y);
}
