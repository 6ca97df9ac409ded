//! The bytes along the last axis make whole elements of the other dtype.
//!
//! Instead: `.to::<f64>()` for the same values, or a last axis of an even size.
use castiron::{Tensor, shape};

fn main() {
    Tensor::<f32, shape![2, 3]>::zeros().view_dtype::<f64>();
}
