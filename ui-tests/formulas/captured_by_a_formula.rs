//! A formula captures nothing: loops, kernels and derivatives know its operands only.
//!
//! Instead: a value from outside is an operand.
//!
//! names: `rate` is none of its operands
//! says: fn decay<F: Float>(…, rate: F)

use castiron::{formula, tensor};

fn main() {
    let rate = 0.5;
    #[formula]
    fn decay<F: Float>(x: F) -> F {
    // instead: fn decay<F: Float>(x: F, rate: F) -> F {
        (-rate * x).exp()
    }
    let _ = tensor![1.0, 2.0].apply(decay, ());
    // instead: let _ = tensor![1.0, 2.0].apply(decay, rate);
}
