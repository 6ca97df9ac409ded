//! An operand that is a mask is a tensor of bools.
//!
//! Instead: compare first.
//!
//! names: the formula can't be applied
//! says: tensors of bools

use castiron::{formula, tensor};

#[formula]
fn kept<F: Float>(x: F, keep: Mask) -> F {
    select(keep, x, 0)
}

fn main() {
    let (x, weights) = (tensor![1.0, 2.0], tensor![0.0, 1.0]);
    let _ = x.apply(kept, &weights);
    // instead: let _ = x.apply(kept, weights.ne(0));
}
