//! `gather` takes indices with as many axes as the tensor.
//!
//! Instead: put axes in with `unsqueeze`.
//!
//! names: gather | number of axes
//! says: unsqueeze

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![[1, 2], [3, 4]].gather(axis![1], tensor![0, 1]);
    // instead: let _ = tensor![[1, 2], [3, 4]].gather(axis![1], tensor![0, 1].unsqueeze(axis![0]));
}
