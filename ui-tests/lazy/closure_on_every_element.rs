//! What runs in one pass is a formula, and no function of the program.
//!
//! Instead: `fused!(x * x + 1.0)`.
//!
//! names: fused!
//! names: closure
//! says: formula

use castiron::{fused, tensor};

fn main() {
    let x = tensor![1.0, 3.0];
    let _ = fused!(x.map(|v| v * v + 1.0));
    // instead: let _ = fused!(x * x + 1.0);
}
