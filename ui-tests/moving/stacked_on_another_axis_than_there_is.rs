//! The new axis lies before, between or behind the others.
//!
//! Instead: 0 or 1, here.
//!
//! names: axis 2
//! says: axis![

use castiron::{axis, stack, tensor};

fn main() {
    let (x, y) = (tensor![1, 2], tensor![3, 4]);
    let _ = stack((&x, &y), axis![2]);
    // instead: let _ = stack((&x, &y), axis![1]);
}
