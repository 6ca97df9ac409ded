//! `!` is bitwise: for bools and integers.
//!
//! Instead: `x.logical_not()`.

use castiron::{tensor};

fn main() {
    let _ = tensor![1.0, 2.0].bitwise_not();
}
