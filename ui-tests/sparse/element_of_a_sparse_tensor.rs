//! A sparse tensor is not indexed: an element may be the sum of several.
//!
//! Instead: `to_dense()`.
//!
//! names: index
//! says: .to_dense()

use castiron::tensor;

fn main() {
    let s = tensor![[0.0, 1.0], [2.0, 0.0]].to_sparse();
    let _ = s[(0, 1)];
    // instead: let _ = s.to_dense()[(0, 1)];
}
