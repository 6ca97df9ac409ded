//! A formula sees one element of each operand.
//!
//! Instead: what stands beside it is an operand of its own.
//!
//! names: is one number, not a tensor
//! says: shifted view

use castiron::{axis, formula, tensor};

#[formula]
fn slope<F: Float>(x: F) -> F {
// instead: fn slope<F: Float>(x: F, next: F) -> F {
    x[1] - x[0]
    // instead: next - x
}

fn main() {
    let x = tensor![1.0, 4.0, 9.0];
    let _ = x.apply(slope, ());
    // instead: let _ = x.narrow(axis![0], 0, 2).apply(slope, &x.narrow(axis![0], 1, 2));
    let _ = axis![0];
}
