//! A boolean output takes booleans only.
//!
//! Instead: `mask |= x.ne(0)`.

use castiron::{tensor};

fn main() {
    let mut mask = tensor![true, false];
    mask += tensor![1, 0];
}
