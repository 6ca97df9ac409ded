//! Square matrices have inverses.
//!
//! Instead: the pseudoinverse.
//!
//! names: needs a square matrix
//! names: D4
//! says: last two axes must be equal

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![3, 4]> = Tensor::ones();
    let _ = x.inv();
    // instead: let _ = x.pinv(None, false);
}
