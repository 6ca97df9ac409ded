//! Ranges are Rust's, with two dots.
//!
//! Instead: `1..3`; the whole axis is `..`.
//!
//! names: `:` | range
//! says: ..

use castiron::{s, tensor};

fn main() {
    let x = tensor![[1, 2, 3], [4, 5, 6]];
    let _ = x.slice(s![0, 1:3]);
    // instead: let _ = x.slice(s![0, 1..3]);
}
