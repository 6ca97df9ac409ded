//! Sizes go together if they are equal or one of them is 1.
//!
//! Instead: `unsqueeze` the axis that is to be repeated.

use castiron::{tensor};

fn main() {
    let x = tensor![1, 2, 3];
    let y = tensor![1, 2];
    let _ = &x + &y;
}
