//! Views are of tensors, and an expression is none yet.
//!
//! Instead: the view of what it gives.
//!
//! names: one pass
//! names: `t`
//! says: fused!(x + y).t()

use castiron::{fused, tensor};

fn main() {
    let (x, y) = (tensor![[1.0, 3.0]], tensor![[1.0, 0.5]]);
    let _ = fused!((x + y).t());
    // instead: let _ = fused!(x + y).t();
}
