//! A tensor without elements has none to call a closure with.
//!
//! Instead: compute with operations, which give the shapes of results.
//!
//! names: closures
//! names: Meta
//! says: fused!

use castiron::{Meta, Tensor, axis, shape};

fn main() {
    let mut x = Tensor::<f32, shape![3, 2], Meta>::zeros();
    x.map_lanes_(axis![1], |row| row.reverse());
    // instead: x = x.flip(axis![1]);
    let _ = x;
}
