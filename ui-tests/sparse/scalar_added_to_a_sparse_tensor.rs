//! A scalar added to a sparse tensor would make every zero something else.
//!
//! Instead: `s.to_dense() + 1`, or a product, which leaves zeros alone.
//!
//! names: add
//! names: sparse
//! says: .to_dense()

use castiron::tensor;

fn main() {
    let s = tensor![[0.0, 1.0]].to_sparse();
    let _ = &s + 1;
    // instead: let _ = s.to_dense() + 1;
}
