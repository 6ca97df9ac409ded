//! A reducer takes as many operands as its `step`.
//!
//! Instead: give the second one after the reducer.
//!
//! names: the reducer can't be applied
//! says: a tensor or scalar if `step` has two

use castiron::{reducer, tensor};

struct WeightedSum;
#[reducer]
impl WeightedSum {
    fn start<F: Float>() -> F {
        0.0
    }
    fn step<F: Float>(sum: F, x: F, weight: F) -> F {
        sum + weight * x
    }
    fn merge<F: Float>(one: F, other: F) -> F {
        one + other
    }
    fn finish<F: Float>(sum: F) -> F {
        sum
    }
}

fn main() {
    let _ = tensor![1.0, 2.0].reduce_by(WeightedSum, ());
    // instead: let _ = tensor![1.0, 2.0].reduce_by(WeightedSum, 0.5);
}
