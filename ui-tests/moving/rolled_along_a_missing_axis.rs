//! An axis is one of the tensor's.
//!
//! Instead: `axis![0]`.
//!
//! names: axis 1
//! names: out of range
//! says: axis![

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![1, 2, 3].roll_axis(axis![1], 1);
    // instead: let _ = tensor![1, 2, 3].roll_axis(axis![0], 1);
}
