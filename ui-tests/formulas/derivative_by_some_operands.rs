//! A derivative is stated by each operand, or left to be read.
//!
//! Instead: `_` for what is read.
//!
//! names: a formula for each of the 2 operands
//! says: or `_` where nothing better is known

use castiron::{formula, tensor};

#[formula]
fn by_x<F: Float>(x: F, scale: F) -> F {
    scale * (x * scale).sigmoid()
}
#[formula(derivative = by_x)]
// instead: #[formula(derivative = (by_x, _))]
fn soft<F: Float>(x: F, scale: F) -> F {
    (1.0 + (x * scale).exp()).log()
}

fn main() {
    let _ = tensor![1.0, 2.0].apply(soft, 2.0);
}
