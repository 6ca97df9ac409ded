//! All sizes but that of the joined axis are the same.
//!
//! Instead: `narrow` or pad the wider one.

use castiron::{axis, cat, tensor};

fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let y = tensor![[1, 2, 3]];
    let _ = cat((&x, &y), axis![0]);
}
