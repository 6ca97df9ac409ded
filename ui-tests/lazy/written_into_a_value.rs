//! What is written is there afterwards: `x.select(…)` gives a tensor of its own.
//!
//! Instead: `x.select_mut(…)`, which is written through.
//!
//! names: fused!
//! names: written
//! says: select_mut

use castiron::{axis, fused, tensor};

fn main() {
    let mut x = tensor![[1.0, 3.0], [5.0, 7.0]];
    let y = tensor![2.0, 4.0];
    fused!(x.select(axis![0], 1) = y * 2.0);
    // instead: fused!(x.select_mut(axis![0], 1) = y * 2.0);
}
