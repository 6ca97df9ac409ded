//! `sum` adds up everything; `sum_axis` takes axes.
//!
//! Instead: `sum_axis`.
//!
//! names: takes 0 arguments
//! says: sum_axis
//! rustc: E0061

use castiron::tensor;
// instead: use castiron::{axis, tensor};

fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let _ = x.sum(1);
    // instead: let _ = x.sum_axis(axis![1]);
}
