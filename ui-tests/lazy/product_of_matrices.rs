//! A product of matrices is no operation on single elements.
//!
//! Instead: it stands in braces, and is computed before.
//!
//! names: one pass
//! names: matmul
//! says: { x.matmul(w) }

use castiron::{fused, tensor};

fn main() {
    let (x, w) = (tensor![[1.0, 3.0]], tensor![[1.0], [0.5]]);
    let _ = fused!(x.matmul(w) + 1.0);
    // instead: let _ = fused!({ x.matmul(&w) } + 1.0);
}
