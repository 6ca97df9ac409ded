//! A boolean output takes booleans only.
//!
//! Instead: `mask |= x.ne(0)`.
//!
//! names: i64
//! names: bool
//! says: let x | out-of-place | new tensor

use castiron::tensor;

fn main() {
    let mut mask = tensor![true, false];
    mask += tensor![1, 0];
    // instead: mask |= tensor![1, 0].ne(0);
}
