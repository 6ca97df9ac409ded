//! A float scalar lifts integers to floats, which an integral output does not take.
//!
//! Instead: `&counts * 0.5`, or `counts *= 2`.

use castiron::{tensor};

fn main() {
    let mut counts = tensor![1, 2, 3];
    counts *= 0.5;
}
