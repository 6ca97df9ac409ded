//! An expression is written only where its dtype may be cast without being asked.
//!
//! Instead: a new tensor.
//!
//! names: f32
//! names: i64
//! says: let x | out-of-place | new tensor | copy_from

use castiron::{fused, tensor};

fn main() {
    let x = tensor![0.5, 1.5];
    let mut counts = tensor![1, 2];
    fused!(counts += x * 2.0);
    // instead: let counts = fused!(counts + x * 2.0);
}
