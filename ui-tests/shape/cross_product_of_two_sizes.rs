//! A cross product is of two tensors of one shape.
//!
//! Instead: give both the same shape.
//!
//! names: cross
//! says: 3 | same

use castiron::{axis, tensor};

fn main() {
    let (x, y) = (tensor![1, 2, 3], tensor![1, 2]);
    // instead: let (x, y) = (tensor![1, 2, 3], tensor![1, 2, 0]);
    let _ = x.cross(&y, axis![0]);
}
