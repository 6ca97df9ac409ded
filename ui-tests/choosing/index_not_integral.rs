//! Indices are integers.
//!
//! Instead: cast them with `.to::<i64>()`, or choose by a mask with `masked_select`.
//!
//! names: indices
//! names: i64
//! says: .to::<i64>()

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![[1, 2], [3, 4]].index_select(axis![0], tensor![0.0, 1.0]);
    // instead: let _ = tensor![[1, 2], [3, 4]].index_select(axis![0], tensor![0.0, 1.0].to::<i64>());
}
