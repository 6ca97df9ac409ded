//! A position written as a literal is one of an axis whose size is known.
//!
//! Instead: count from 0, or from -1 backwards.
use castiron::{s, tensor};

fn main() {
    tensor![[1, 2, 3], [4, 5, 6]].slice(s![.., 3]);
}
