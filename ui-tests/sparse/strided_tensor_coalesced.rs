//! `coalesce` is for sparse tensors.
//!
//! Instead: `to_sparse()`.
//!
//! names: coalesce
//! says: to_sparse

use castiron::tensor;

fn main() {
    let x = tensor![[0.0, 1.0], [2.0, 0.0]];
    let _ = x.coalesce();
    // instead: let _ = x.to_sparse().coalesce();
}
