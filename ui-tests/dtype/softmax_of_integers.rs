//! `softmax` keeps its dtype, which must be floating-point.
//!
//! Instead: `x.to::<f32>().softmax(axis![0])`.
//!
//! names: softmax
//! names: i64
//! says: .to::<f32>()

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![1, 2, 3].softmax(axis![0]);
    // instead: let _ = tensor![1, 2, 3].to::<f32>().softmax(axis![0]);
}
