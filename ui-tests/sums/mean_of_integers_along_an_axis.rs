//! A mean is floating-point or complex, along an axis too.
//!
//! Instead: cast first.
//!
//! names: mean
//! names: u8
//! says: .to::<

use castiron::{axis, tensor};

fn main() {
    let pixels = tensor![[0, 128], [255, 7]; u8];
    let _ = pixels.mean_axis(axis![0]);
    // instead: let _ = pixels.to::<f32>().mean_axis(axis![0]);
}
