//! `index_select` takes a list of indices.
//!
//! Instead: flatten the indices, or use `gather` or `embedding`.
//!
//! names: one axis
//! says: flatten | gather

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![[1, 2], [3, 4]].index_select(axis![0], tensor![[0, 1]]);
    // instead: let _ = tensor![[1, 2], [3, 4]].index_select(axis![0], tensor![[0, 1]].flatten());
}
