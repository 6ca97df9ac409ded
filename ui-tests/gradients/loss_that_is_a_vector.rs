//! A gradient starts at one number.
//!
//! Instead: reduce the result.
//!
//! names: starts at one number
//! says: .sum()

use castiron::grad::Grad;
use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let _ = x.value_and_grad((), |x, ()| x * x);
    // instead: let _ = x.value_and_grad((), |x, ()| (x * x).sum());
}
