//! A position written as a literal is one of an axis whose size is known.
//!
//! Instead: count from 0, or from -1 backwards.
//!
//! names: index
//! names: D3
//! says: size | position

use castiron::{s, tensor};

fn main() {
    tensor![[1, 2, 3], [4, 5, 6]].slice(s![.., 3]);
    // instead: tensor![[1, 2, 3], [4, 5, 6]].slice(s![.., 2]);
}
