//! A method that gives several numbers is no part of an expression.
//!
//! Instead: apply it to tensors first.
//!
//! names: gives several numbers
//! says: apply it to tensors first

use castiron::{formula, fused, tensor};

#[formula(method)]
fn polar_form<F: Float>(x: F, y: F) -> (F, F) {
    (x.hypot(y), y.atan2(x))
}

fn main() {
    let (x, y) = (tensor![3.0, 1.0], tensor![4.0, 0.0]);
    let _ = fused!(x.polar_form(y));
    // instead: let (radius, _) = x.polar_form(&y); let _ = fused!(radius * 2);
}
