//! One index for each axis.
//!
//! Instead: `x[(0, 1)]`; a row is `x.select(axis![0], 0)`.
//!
//! names: (D2, D2)
//! names: indexed
//! says: each axis | select

use castiron::tensor;

fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let _ = x[(0, 1, 2)];
    // instead: let _ = x[(0, 1)];
}
