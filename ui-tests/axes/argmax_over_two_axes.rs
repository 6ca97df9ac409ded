//! An index counts along one axis.
//!
//! Instead: flatten the axes first.

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![[1, 2], [3, 4]].argmax_axis(axis![0, 1]);
}
