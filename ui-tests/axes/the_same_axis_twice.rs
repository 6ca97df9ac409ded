//! An axis is reduced once.
//!
//! Instead: name it once; `-1` and `1` are the same axis here.

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![[1, 2], [3, 4]].sum_axis(axis![1, -1]);
}
