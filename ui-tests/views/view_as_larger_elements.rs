//! The bytes along the last axis make whole elements of the other dtype.
//!
//! Instead: `.to::<f64>()` for the same values, or a last axis of an even size.
//!
//! names: f32
//! names: f64
//! says: even | multiple | whole | .to::<

use castiron::{Tensor, shape};

fn main() {
    Tensor::<f32, shape![2, 3]>::zeros().view_dtype::<f64>();
    // instead: Tensor::<f32, shape![2, 4]>::zeros().view_dtype::<f64>();
}
