//! Bitwise operations are for bools and integers.
//!
//! Instead: `x.ne(0).logical_and(y.ne(0))`.
//!
//! names: bitwise_and
//! names: f32
//! says: logical_and | .to::<

use castiron::tensor;

fn main() {
    let _ = tensor![1.0, 2.0] & tensor![1, 0];
    // instead: let _ = tensor![1.0, 2.0].ne(0).logical_and(tensor![1, 0].ne(0));
}
