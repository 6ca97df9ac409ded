//! Items of a slice are integers and ranges of them.
//!
//! Instead: an integer, a range, `...` or `NewAxis`.
use castiron::{s, tensor};

fn main() {
    let i = 0.5;
    tensor![1, 2, 3].slice(s![i]);
}
