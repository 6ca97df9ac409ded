//! Positions are `usize`, as everywhere in Rust.
//!
//! Instead: `as usize`, or `usize` from the start.
//!
//! names: i32
//! names: index
//! says: usize

use castiron::tensor;

fn main() {
    let x = tensor![1, 2, 3];
    let i = 1_i32;
    let _ = x[i];
    // instead: let _ = x[i as usize];
}
