//! Parts are reduced at the same time, so a reducer says how two states become one.
//!
//! Instead: write the function.
//!
//! names: `merge` is missing
//! says: the state of the elements of both

use castiron::{reducer, tensor};

struct Total;
#[reducer]
impl Total {
    fn start<F: Float>() -> F {
        0.0
    }
    fn step<F: Float>(sum: F, x: F) -> F {
        sum + x
    }
    fn finish<F: Float>(sum: F) -> F { sum }
    // instead: fn merge<F: Float>(one: F, other: F) -> F { one + other } fn finish<F: Float>(sum: F) -> F { sum }
}

fn main() {
    let _ = tensor![1.0, 2.0].reduce_by(Total, ());
}
