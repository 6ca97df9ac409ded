//! A slice names no more axes than there are.
//!
//! Instead: leave out items, or put in `NewAxis` where an axis is wanted.
//!
//! names: too many indices
//! says: leave | fewer | more axes

use castiron::{s, tensor};

fn main() {
    tensor![[1, 2, 3], [4, 5, 6]].slice(s![0, .., 1]);
    // instead: tensor![[1, 2, 3], [4, 5, 6]].slice(s![0, 1]);
}
