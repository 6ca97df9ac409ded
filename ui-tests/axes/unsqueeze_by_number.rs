//! An axis is named by `axis!`.
//!
//! Instead: `axis![0]`.
//!
//! names: axis
//! says: axis![

use castiron::tensor;
// instead: use castiron::{axis, tensor};

fn main() {
    let x = tensor![1, 2, 3];
    let _ = x.unsqueeze(0);
    // instead: let _ = x.unsqueeze(axis![0]);
}
