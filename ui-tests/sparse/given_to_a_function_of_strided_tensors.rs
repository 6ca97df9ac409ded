//! The layout stands in the type.
//!
//! Instead: `.to_dense()`, or a function of any layout.
//!
//! names: SparseCoo
//! says: to_dense
//! rustc: E0308

use castiron::{Tensor, shape, tensor};

fn norm(x: &Tensor<f32, shape![2, 2]>) -> f32 {
    (x * x).sum().sqrt().item()
}

fn main() {
    let x = tensor![[0.0, 2.0], [0.0, 0.0]].to_sparse();
    let _ = norm(&x);
    // instead: let _ = norm(&x.to_dense());
}
