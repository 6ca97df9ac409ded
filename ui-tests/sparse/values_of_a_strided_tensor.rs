//! A strided tensor has elements; a sparse one lists values.
//!
//! Instead: `to_sparse()`, or `to_vec()`.
//!
//! names: values
//! says: to_sparse

use castiron::tensor;

fn main() {
    let x = tensor![[0.0, 1.0], [2.0, 0.0]];
    let _ = x.values();
    // instead: let _ = x.to_sparse().values();
}
