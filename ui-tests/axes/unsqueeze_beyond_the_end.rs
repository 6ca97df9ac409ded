//! A new axis lies before, between or behind the others.
//!
//! Instead: 0, 1, or -1 for the last.
//!
//! names: axis 3 | out of range
//! says: -1 | up to | between

use castiron::{axis, tensor};

fn main() {
    let x = tensor![1, 2, 3];
    let _ = x.unsqueeze(axis![3]);
    // instead: let _ = x.unsqueeze(axis![1]);
}
