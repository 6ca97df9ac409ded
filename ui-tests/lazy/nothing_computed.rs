//! `fused!` computes something.
//!
//! Instead: an expression.
//!
//! names: fused!
//! says: a * b
//! says: c | expression

use castiron::{fused, tensor};

fn main() {
    let x = tensor![0.5, -1.5];
    fused!();
    // instead: fused!(x + 1);
}
