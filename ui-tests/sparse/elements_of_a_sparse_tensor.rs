//! A sparse tensor lists values and where they are.
//!
//! Instead: `to_dense()`, or `values()`.
//!
//! names: to_vec
//! names: sparse
//! says: .to_dense()

use castiron::tensor;

fn main() {
    let s = tensor![[0.0, 1.0], [2.0, 0.0]].to_sparse();
    let _ = s.to_vec();
    // instead: let _ = s.to_dense().to_vec();
}
