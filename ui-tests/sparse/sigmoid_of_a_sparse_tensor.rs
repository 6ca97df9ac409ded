//! A function that makes zeros something else has no sparse result.
//!
//! Instead: `to_dense()`.
//!
//! names: sigmoid
//! names: sparse
//! says: .to_dense()

use castiron::tensor;

fn main() {
    let s = tensor![[0.0, 1.0]].to_sparse();
    let _ = s.sigmoid();
    // instead: let _ = s.to_dense().sigmoid();
}
