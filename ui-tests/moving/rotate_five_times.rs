//! A plane is turned from -4 to 4 times.
//!
//! Instead: `x.rot90::<1, _, _>(axis![0, 1])`, which is the same.
//!
//! names: turned 5 times
//! says: -4 | from

use castiron::{Tensor, axis, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 3]>::zeros();
    let _ = x.rot90::<5, _, _>(axis![0, 1]);
    // instead: let _ = x.rot90::<1, _, _>(axis![0, 1]);
}
