//! `let` names a part of the formula, which does not change.
//!
//! Instead: another `let`, or one expression.
//!
//! names: fused!
//! names: let
//! says: another `let`

use castiron::{fused, tensor};

fn main() {
    let x = tensor![1.0, 3.0];
    let _ = fused! {
        let mut total = x * 2.0;
        // instead: let total = x * 2.0;
        total += x;
        // instead:
        total
        // instead: total + x
    };
}
