//! Items of a slice are integers and ranges of them.
//!
//! Instead: an integer, a range, `...` or `NewAxis`.
//!
//! names: {float}
//! names: position
//! says: integer

use castiron::{s, tensor};

fn main() {
    let i = 0.5;
    // instead: let i = 0_usize;
    tensor![1, 2, 3].slice(s![i]);
}
