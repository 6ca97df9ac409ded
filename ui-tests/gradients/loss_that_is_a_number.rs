//! The loss is on the tape when it leaves the closure.
//!
//! Instead: `.item()` after it.
//!
//! names: `f32`
//! names: starts at one number
//! says: leave out `.item()`

use castiron::grad::Grad;
use castiron::tensor;

fn main() {
    let x = tensor![1.0_f32, 2.0];
    let (_, _) = x.value_and_grad((), |x, ()| x.sum().item());
    // instead: let (_, _) = x.value_and_grad((), |x, ()| x.sum());
}
