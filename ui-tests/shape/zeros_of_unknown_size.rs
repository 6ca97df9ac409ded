//! Where sizes are known at run time only, they are given.
//!
//! Instead: `zeros_sized([n, 3])`.
//!
//! names: size
//! names: Dyn
//! says: sized

use castiron::{Tensor, shape};

fn main() {
    let _ = Tensor::<f32, shape![_, 3]>::zeros();
    // instead: let _ = Tensor::<f32, shape![_, 3]>::zeros_sized([2, 3]);
}
