//! An axis is one of the tensor's.
//!
//! Instead: `axis![-1]` for the last.
//!
//! names: axis 2
//! names: (D2, D2)
//! says: axis![

use castiron::{axis, tensor};

fn main() {
    let x = tensor![[1.0, 2.0], [3.0, 4.0]];
    let _ = x.softmax(axis![2]);
    // instead: let _ = x.softmax(axis![-1]);
}
