//! A mask times an integer is an integer, which a mask cannot hold.
//!
//! Instead: a new tensor.
//!
//! names: i64
//! names: bool
//! says: let x | out-of-place | new tensor

use castiron::tensor;

fn main() {
    let mut mask = tensor![true, false];
    mask *= 2;
    // instead: let counts = mask * 2;
}
