//! Negative axes count from the end.
//!
//! Instead: `axis![-2]` for the first.

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![[1, 2], [3, 4]].cumsum(axis![-3]);
}
