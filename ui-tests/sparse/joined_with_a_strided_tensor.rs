//! Tensors of one layout are joined.
//!
//! Instead: `to_dense()` or `to_sparse()`.
//!
//! names: Sparse | sparse
//! says: to_dense | to_sparse

use castiron::{axis, cat, tensor};

fn main() {
    let s = tensor![[0.0, 1.0]].to_sparse();
    let x = tensor![[1.0, 2.0]];
    let _ = cat((&s, &x), axis![0]);
    // instead: let _ = cat((&s.to_dense(), &x), axis![0]);
}
