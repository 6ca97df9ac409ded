//! An axis is one of the tensor's.
//!
//! Instead: `axis![0]`.
//!
//! names: axis 1
//! names: out of range
//! says: axis![

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![1, 2, 3].roll_axis(1, axis![1]);
    // instead: let _ = tensor![1, 2, 3].roll_axis(1, axis![0]);
}
