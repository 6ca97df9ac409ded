//! Indices are integers.
//!
//! Instead: cast them.
//!
//! names: gather
//! names: i64
//! says: .to::<i64>()

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![1, 2, 3].gather(axis![0], tensor![0.0, 2.0]);
    // instead: let _ = tensor![1, 2, 3].gather(axis![0], tensor![0, 2]);
}
