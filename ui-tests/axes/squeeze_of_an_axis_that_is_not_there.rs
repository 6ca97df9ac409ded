//! An axis is one of the tensor's.
//!
//! Instead: `axis![0]`.
//!
//! names: axis 1
//! names: (D3,)
//! says: axis![

use castiron::{axis, tensor};

fn main() {
    let x = tensor![1, 2, 3];
    let _ = x.squeeze_axis(axis![1]);
    // instead: let _ = x.squeeze_axis(axis![0]);
}
