//! What is written has the dtype of the tensor.
//!
//! Instead: cast the source first: `src.to::<i64>()`.
//!
//! names: scatter
//! names: one dtype
//! says: .to::<

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![1, 2].scatter(axis![0], tensor![0], tensor![0.5]);
    // instead: let _ = tensor![1, 2].scatter(axis![0], tensor![0], tensor![0.5].to::<i64>());
}
