//! Negative axes count from the end.
//!
//! Instead: `axis![-2]` for the first.
//!
//! names: axis -3
//! names: out of range
//! says: axis![

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![[1, 2], [3, 4]].cumsum(axis![-3]);
    // instead: let _ = tensor![[1, 2], [3, 4]].cumsum(axis![-2]);
}
