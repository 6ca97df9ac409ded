//! `softmax` makes zeros something else.
//!
//! Instead: `to_dense()`.
//!
//! names: softmax
//! names: sparse
//! says: .to_dense()

use castiron::{axis, tensor};

fn main() {
    let s = tensor![[0.0, 1.0], [2.0, 0.0]].to_sparse();
    let _ = s.softmax(axis![-1]);
    // instead: let _ = s.to_dense().softmax(axis![-1]);
}
