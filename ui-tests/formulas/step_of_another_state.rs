//! All functions of a reducer have the same state.
//!
//! Instead: the type that `start` gives.
//!
//! names: reducer: `step` is
//! says: the state after one more element

use castiron::{reducer, tensor};

struct Mean;
#[reducer]
impl Mean {
    fn start<F: Float>() -> [F; 2] {
        [0.0, 0.0]
    }
    fn step<F: Float>([sum, count, _]: [F; 3], x: F) -> [F; 2] {
        // instead: fn step<F: Float>([sum, count]: [F; 2], x: F) -> [F; 2] {
        [sum + x, count + 1]
    }
    fn merge<F: Float>(one: [F; 2], other: [F; 2]) -> [F; 2] {
        [one[0] + other[0], one[1] + other[1]]
    }
    fn finish<F: Float>([sum, count]: [F; 2]) -> F {
        sum / count
    }
}

fn main() {
    let _ = tensor![1.0, 2.0].reduce_by(Mean, ());
}
