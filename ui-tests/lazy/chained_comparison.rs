//! Comparisons are not chained.
//!
//! Instead: two of them, joined by `&`.
//!
//! names: fused!
//! names: comparisons
//! says: (x > 0) & (x < 3)

use castiron::{fused, tensor};

fn main() {
    let x = tensor![1.0, 4.0];
    let _ = fused!(0 < x < 3);
    // instead: let _ = fused!((x > 0) & (x < 3));
}
