//! `exp` of integers is `f32`, which an integral tensor cannot hold.
//!
//! Instead: `counts.exp()`.

use castiron::{tensor};

fn main() {
    let mut counts = tensor![1, 2, 3];
    counts.exp_();
}
