//! A formula captures nothing: it is read when nothing of its surroundings is there.
//!
//! Instead: a value from outside is an operand.
//!
//! names: can't capture dynamic environment
//! says: can't capture
//! rustc: E0434

use castiron::{formula, tensor};

fn main() {
    let rate = 0.5;
    #[formula]
    // instead:
    fn decay<F: Float>(x: F) -> F {
    // instead: fn decay<F: Float>(x: F, rate: F) -> F {
        (-rate * x).exp()
    }
    // instead:
    let _ = tensor![1.0, 2.0].apply(decay, ());
    // instead: let _ = tensor![1.0, 2.0].apply(decay, rate);
}
