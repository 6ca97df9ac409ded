//! Shifts are defined for integers.
//!
//! Instead: `x *= 4.0`.
//!
//! names: left_shift
//! names: f32
//! says: .to::< | *

use castiron::tensor;

fn main() {
    let mut x = tensor![1.0, 2.0];
    x <<= 2;
    // instead: x *= 4.0;
}
