//! An axis is one of the tensor's.
//!
//! Instead: `axis![-1]` for the last.
//!
//! names: axis 1
//! names: (D3,)
//! says: axis![

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![3, 1, 2].sort(axis![1], false);
    // instead: let _ = tensor![3, 1, 2].sort(axis![-1], false);
}
