//! An axis is named by `axis!`.
//!
//! Instead: `axis![1]`.
//!
//! names: axis | axes
//! says: axis![

use castiron::tensor;
// instead: use castiron::{axis, tensor};

fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let _ = x.sum_axis(1);
    // instead: let _ = x.sum_axis(axis![1]);
}
