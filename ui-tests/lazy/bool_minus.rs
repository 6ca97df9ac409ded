//! Masks are not subtracted, lazily neither.
//!
//! Instead: `a ^ b`, or `a.to::<i64>() - b`.
//!
//! names: sub
//! names: bool
//! says: ^

use castiron::{fused, tensor};

fn main() {
    let a = tensor![true, false];
    let b = tensor![true, true];
    let _ = fused!(a - b);
    // instead: let _ = fused!(a ^ b);
}
