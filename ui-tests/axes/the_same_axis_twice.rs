//! An axis is reduced once.
//!
//! Instead: name it once; `-1` and `1` are the same axis here.
//!
//! names: axis
//! names: second time | twice
//! says: once | -1

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![[1, 2], [3, 4]].sum_axis(axis![1, -1]);
    // instead: let _ = tensor![[1, 2], [3, 4]].sum_axis(axis![-1]);
}
