//! Numbers of a formula are compared by methods, as tensors are.
//!
//! Instead: `gt`, which gives a mask.
//!
//! names: compared by methods
//! says: x.gt(y)

use castiron::{formula, tensor};

#[formula]
fn larger<F: Float>(x: F, y: F) -> F {
    let mask = x > y;
    // instead: let mask = x.gt(y);
    select(mask, x, y)
}

fn main() {
    let _ = tensor![-1.0, 2.0].apply(larger, 0.5);
}
