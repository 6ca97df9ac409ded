//! `select` gives a tensor of its own, which shares its elements.
//!
//! Instead: a mutable view is written to.
//!
//! names: assignment
//! says: select_mut
//! rustc: E0067

use castiron::{axis, tensor};

fn main() {
    let mut x = tensor![[1.0, 2.0], [3.0, 4.0]];
    x.select(axis![0], 0) += 1.0;
    // instead: x.select_mut(axis![0], 0).add_(1.0);
}
