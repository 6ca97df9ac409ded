//! A grid is spanned by vectors.
//!
//! Instead: `meshgrid((x.flatten(), y))`.
//!
//! names: vectors
//! says: flatten

use castiron::{Tensor, meshgrid, shape};

fn main() {
    let (x, y) = (Tensor::<f32, shape![2, 3]>::zeros(), Tensor::<f32, shape![3]>::zeros());
    let _ = meshgrid((x, y));
    // instead: let _ = meshgrid((x.flatten(), y));
}
