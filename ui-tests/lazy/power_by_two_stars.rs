//! `fused!` takes Rust's operators, and `**` is none.
//!
//! Instead: `x.pow(2)`, or `x * x`.
//!
//! names: fused!
//! names: **
//! says: x.pow(2)

use castiron::{fused, tensor};

fn main() {
    let x = tensor![1.0, 3.0];
    let _ = fused!(x ** 2);
    // instead: let _ = fused!(x.pow(2));
}
