//! An element has an index for each axis.
//!
//! Instead: `x[(0, 1)]`; a row is a view.
//!
//! names: (D2, D2)
//! names: index
//! says: select | slice | (0, 1) | one index for each axis

use castiron::tensor;
// instead: use castiron::{axis, tensor};

fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let _ = x[0];
    // instead: let _ = x.select(axis![0], 0);
}
