//! The methods with `_` write in place, as the operators with `=` do.
//!
//! Instead: the method without `_`.
//!
//! names: f32
//! names: i64
//! says: let x | out-of-place | new tensor

use castiron::tensor;

fn main() {
    let mut counts = tensor![1, 2, 3];
    counts.mul_(0.5);
    // instead: let counts = counts.mul(0.5);
}
