//! Assigning casts no float to an integer.
//!
//! Instead: `counts.assign(x.to::<i64>())`, or `copy_from`, which converts.

use castiron::{tensor};

fn main() {
    let mut counts = tensor![1, 2, 3];
    counts.assign(tensor![1.5, 2.5, 3.5]);
}
