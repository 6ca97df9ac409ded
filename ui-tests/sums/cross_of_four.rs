//! A cross product is of vectors of three.
//!
//! Instead: name the axis of size 3.
//!
//! names: cross | D3
//! says: 3

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![1, 2, 3, 4].cross(&tensor![1, 2, 3, 4], axis![0]);
    // instead: let _ = tensor![1, 2, 3].cross(&tensor![1, 2, 3], axis![0]);
}
