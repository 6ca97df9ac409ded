//! A view has strides, and a sparse tensor has none.
//!
//! Instead: `to_dense()`.
//!
//! names: view
//! names: sparse
//! says: .to_dense()

use castiron::{shape, tensor};

fn main() {
    let s = tensor![[0.0, 1.0], [2.0, 0.0]].to_sparse();
    let _ = s.view::<shape![4]>();
    // instead: let _ = s.to_dense().view::<shape![4]>();
}
