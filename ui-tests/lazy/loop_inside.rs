//! `fused!` takes expressions and `let`.
//!
//! Instead: the loop outside.
//!
//! names: fused!
//! says: let

use castiron::{fused, tensor};

fn main() {
    let x = tensor![0.5, 1.5];
    let _ = fused!(for value in x { value });
    // instead: let _ = fused! { let y = x * 2; y + 1 };
}
