//! What is written into a view has its shape, or is broadcast to it.
//!
//! Instead: as many elements as the row has, or one.
//!
//! names: D2
//! names: D3
//! says: 1

use castiron::{axis, tensor};

fn main() {
    let mut x = tensor![[1, 2, 3], [4, 5, 6]];
    x.select_mut(axis![0], 0).add_(tensor![1, 2]);
    // instead: x.select_mut(axis![0], 0).add_(tensor![1, 2, 3]);
}
