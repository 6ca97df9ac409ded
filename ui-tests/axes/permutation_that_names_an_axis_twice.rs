//! A permutation names every axis once.
//!
//! Instead: each of 0, 1 and 2 once.
//!
//! names: axis | permut | order of the axes
//! says: each | once

use castiron::{Tensor, axis, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 3, 4]>::ones();
    let _ = x.permute(axis![0, 1, 1]);
    // instead: let _ = x.permute(axis![0, 2, 1]);
}
