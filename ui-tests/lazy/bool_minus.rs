//! Masks are not subtracted, lazily neither.
//!
//! Instead: `a ^ b`, or `a.to::<i64>() - b`.

use castiron::{fused, tensor};

fn main() {
    let a = tensor![true, false];
    let b = tensor![true, true];
    let _ = fused!(a - b);
}
