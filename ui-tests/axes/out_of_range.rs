//! An axis is one of the tensor's.
//!
//! Instead: `axis![1]` or `axis![-1]` for the last.
//!
//! names: axis 2
//! names: out of range
//! says: axis![

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![[1, 2], [3, 4]].sum_axis(axis![2]);
    // instead: let _ = tensor![[1, 2], [3, 4]].sum_axis(axis![1]);
}
