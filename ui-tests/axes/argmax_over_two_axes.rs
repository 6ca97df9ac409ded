//! An index counts along one axis.
//!
//! Instead: flatten the axes first.
//!
//! names: one axis
//! says: axis![0]

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![[1, 2], [3, 4]].argmax_axis(axis![0, 1]);
    // instead: let _ = tensor![[1, 2], [3, 4]].flatten().argmax_axis(axis![0]);
}
