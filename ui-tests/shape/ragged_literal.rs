//! Rows of a literal have one length.
//!
//! Instead: fill the short row up.

use castiron::{tensor};

fn main() {
    let _ = tensor![[1, 2, 3], [4, 5]];
}
