//! A sparse tensor has no strides.
//!
//! Instead: `to_dense()`.
//!
//! names: stride
//! names: sparse
//! says: .to_dense()

use castiron::tensor;

fn main() {
    let s = tensor![[0.0, 1.0], [2.0, 0.0]].to_sparse();
    let _ = s.stride();
    // instead: let _ = s.to_dense().stride();
}
