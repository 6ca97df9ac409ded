//! Division gives floats, which bytes cannot hold.
//!
//! Instead: `let scaled = &pixels / 255.0`, a tensor of `f32`.
//!
//! names: f32
//! names: u8
//! says: let x | out-of-place | new tensor

use castiron::tensor;

fn main() {
    let mut pixels = tensor![0, 128, 255; u8];
    pixels /= 255.0;
    // instead: let scaled = &pixels / 255.0;
}
