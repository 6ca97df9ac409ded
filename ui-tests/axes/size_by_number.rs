//! An axis is named by `axis!`; the sizes of all are an array, `shape()`.
//!
//! Instead: `axis![0]`, or `x.shape()[0]`.
//!
//! names: axis
//! says: axis![

use castiron::tensor;

fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let _ = x.size(0);
    // instead: let _ = x.shape()[0];
}
