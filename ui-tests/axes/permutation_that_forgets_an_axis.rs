//! A permutation names every axis once.
//!
//! Instead: `axis![1, 0]`.

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![[1, 2], [3, 4]].permute(axis![1]);
}
