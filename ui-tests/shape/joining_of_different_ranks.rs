//! Joined tensors have the same number of axes.
//!
//! Instead: put an axis in first.
//!
//! names: (D2, D2)
//! names: (D2,)
//! says: unsqueeze

use castiron::{axis, cat, tensor};

fn main() {
    let (x, y) = (tensor![[1, 2], [3, 4]], tensor![5, 6]);
    let _ = cat((&x, &y), axis![0]);
    // instead: let _ = cat((&x, y.unsqueeze(axis![0])), axis![0]);
}
