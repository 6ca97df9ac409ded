//! A formula of integers has whole numbers as constants.
//!
//! Instead: a whole number.
//!
//! names: is no integer
//! says: write a whole number

use castiron::{formula, tensor};

#[formula]
fn above<I: Integer>(x: I) -> I {
    x + 0.5
    // instead: x + 1
}

fn main() {
    let _ = tensor![1, 2].apply(above, ());
}
