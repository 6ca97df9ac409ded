//! `log_softmax` keeps its dtype, which must be floating-point.
//!
//! Instead: cast first.
//!
//! names: log_softmax
//! names: i64
//! says: .to::<f32>()

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![1, 2, 3].log_softmax(axis![0]);
    // instead: let _ = tensor![1, 2, 3].to::<f32>().log_softmax(axis![0]);
}
