//! A permutation names every axis once.
//!
//! Instead: `axis![1, 0]`.
//!
//! names: order of the axes | permut
//! says: each | once

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![[1, 2], [3, 4]].permute(axis![1]);
    // instead: let _ = tensor![[1, 2], [3, 4]].permute(axis![1, 0]);
}
