//! The axes that are flipped exist.
//!
//! Instead: `x.flip(axis![1])`, or `x.flip(axis![-1])` for the last.
//!
//! names: axis 2
//! names: out of range
//! says: axis![

use castiron::{Tensor, axis, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 3]>::zeros();
    let _ = x.flip(axis![2]);
    // instead: let _ = x.flip(axis![-1]);
}
