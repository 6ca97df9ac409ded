//! A mean is floating-point or complex.
//!
//! Instead: `x.to::<f32>().mean()`.

use castiron::{tensor};

fn main() {
    let _ = tensor![1, 2, 3].mean();
}
