//! Bitwise operations are for bools and integers.
//!
//! Instead: `x.ne(0).logical_and(y.ne(0))`.

use castiron::{tensor};

fn main() {
    let _ = tensor![1.0, 2.0] & tensor![1, 0];
}
