//! A sparse tensor is divided by scalars and zero-dim tensors: zero by zero is not zero.
//!
//! Instead: divide the values, or `.to_dense()` first.
//!
//! names: div
//! names: sparse
//! says: .to_dense()

use castiron::tensor;

fn main() {
    let s = tensor![[0.0, 1.0]].to_sparse();
    let _ = &s / &s;
    // instead: let _ = &s / 2;
}
