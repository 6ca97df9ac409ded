//! What is written has the dtype of the tensor.
//!
//! Instead: cast the source first: `src.to::<i64>()`.

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![1, 2].scatter(axis![0], tensor![0], tensor![0.5]);
}
