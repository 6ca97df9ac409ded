//! Shell dtypes have no functions.
//!
//! Instead: cast first.
//!
//! names: F8E5M2 | Float8
//! says: .to::<f32>()

use castiron::{F8E5M2, Tensor, shape};

fn main() {
    let x = Tensor::<F8E5M2, shape![3]>::ones();
    let _ = x.log();
    // instead: let _ = x.to::<f32>().log();
}
