//! `/` is true division: of integers it gives floats.
//!
//! Instead: `counts.floor_divide_(2)`, or `&counts / 2`.
//!
//! names: f32
//! names: i64
//! says: floor_divide_ | let x | out-of-place

use castiron::tensor;

fn main() {
    let mut counts = tensor![1, 2, 3];
    counts /= 2;
    // instead: counts.floor_divide_(2);
}
