//! `/` is true division: of bytes it gives floats.
//!
//! Instead: a new tensor, or `floor_divide_`, which rounds down.
//!
//! names: f32
//! names: u8
//! says: floor_divide_ | let x

use castiron::tensor;

fn main() {
    let mut pixels = tensor![0, 128, 255; u8];
    let scale = tensor![1, 2, 4; u8];
    pixels /= scale;
    // instead: pixels.floor_divide_(scale);
}
