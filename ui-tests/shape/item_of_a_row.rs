//! `item` is for tensors of one element.
//!
//! Instead: reduce first, or index.
//!
//! names: one element
//! says: index | x[

use castiron::{axis, tensor};

fn main() {
    let x = tensor![[1.0, 2.0], [3.0, 4.0]];
    let _ = x.sum_axis(axis![1]).item();
    // instead: let _ = x.sum().item();
}
