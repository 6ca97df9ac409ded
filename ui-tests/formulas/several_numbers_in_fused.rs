//! A formula that gives several numbers is no part of `fused!`.
//!
//! Instead: apply it to tensors first.
//!
//! names: gives several numbers
//! says: let (a, b) = x.apply(formula, operands)

use castiron::{formula, fused, tensor};

#[formula]
fn polar<F: Float>(x: F, y: F) -> (F, F) {
    (x.hypot(y), y.atan2(x))
}

fn main() {
    let (x, y) = (tensor![3.0, 1.0], tensor![4.0, 0.0]);
    let _ = fused!(polar(x, y) * 2.0);
    // instead: let (radius, _) = x.apply(polar, &y); let _ = fused!(radius * 2.0);
}
