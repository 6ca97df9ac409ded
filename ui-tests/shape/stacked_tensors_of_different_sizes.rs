//! Stacked tensors have one shape.
//!
//! Instead: `cat`, which joins tensors that differ along one axis.
//!
//! names: stack | one shape
//! says: cat

use castiron::{axis, stack, tensor};
// instead: use castiron::{axis, cat, stack, tensor};

fn main() {
    let (x, y) = (tensor![1, 2], tensor![1, 2, 3]);
    let _ = stack((&x, &y), axis![0]);
    // instead: let _ = cat((&x, &y), axis![0]);
}
