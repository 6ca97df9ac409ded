//! A slice is written by `s!`, which knows which sizes are literals.
//!
//! Instead: `s![1..3]`.
//!
//! names: slice
//! says: s![

use castiron::tensor;
// instead: use castiron::{s, tensor};

fn main() {
    let x = tensor![1, 2, 3, 4];
    let _ = x.slice(1..3);
    // instead: let _ = x.slice(s![1..3]);
}
