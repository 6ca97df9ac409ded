//! A number added would make every zero something else.
//!
//! Instead: a product, or `to_dense()`.
//!
//! names: add
//! names: sparse
//! says: .to_dense()

use castiron::tensor;

fn main() {
    let mut s = tensor![[0.0, 1.0]].to_sparse();
    s += 1;
    // instead: s *= 2;
}
