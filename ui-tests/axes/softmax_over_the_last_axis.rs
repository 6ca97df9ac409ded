//! An axis is named by `axis!`: it decides on types.
//!
//! Instead: `axis![-1]`.
//!
//! names: axis
//! says: axis![

use castiron::tensor;
// instead: use castiron::{axis, tensor};

fn main() {
    let x = tensor![[1.0, 2.0], [3.0, 4.0]];
    let _ = x.softmax(-1);
    // instead: let _ = x.softmax(axis![-1]);
}
