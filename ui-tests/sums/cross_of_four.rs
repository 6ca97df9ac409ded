//! A cross product is of vectors of three.
//!
//! Instead: name the axis of size 3.

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![1, 2, 3, 4].cross(&tensor![1, 2, 3, 4], axis![0]);
}
