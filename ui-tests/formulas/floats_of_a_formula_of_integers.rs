//! A formula of integers is for no floats.
//!
//! Instead: convert first.
//!
//! names: the formula can't be applied
//! says: .to::<i64>()

use castiron::{formula, tensor};

#[formula]
fn parity<I: Integer>(x: I, y: I) -> I {
    (x ^ y) & 1
}

fn main() {
    let _ = tensor![1.0, 2.0].apply(parity, 3);
    // instead: let _ = tensor![1.0, 2.0].to::<i64>().apply(parity, 3);
}
