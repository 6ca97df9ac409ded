//! A float scalar lifts integers to floats, which an integral output does not take.
//!
//! Instead: `&counts * 0.5`, or `counts *= 2`.
//!
//! names: f32
//! names: i64
//! says: let x | out-of-place | new tensor

use castiron::tensor;

fn main() {
    let mut counts = tensor![1, 2, 3];
    counts *= 0.5;
    // instead: let counts = counts * 0.5;
}
