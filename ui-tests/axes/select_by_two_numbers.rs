//! An axis is named by `axis!`; the position along it is a number.
//!
//! Instead: `axis![0]`.
//!
//! names: axis
//! says: axis![

use castiron::tensor;
// instead: use castiron::{axis, tensor};

fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let _ = x.select(0, 1);
    // instead: let _ = x.select(axis![0], 1);
}
