//! Numbers need no tape.
//!
//! Instead: capture them.
//!
//! names: can't be put on the tape
//! says: captures them

use castiron::grad::Grad;
use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let k = 3.0;
    let _ = x.value_and_grad(&k, |x, k| (x * k).sum());
    // instead: let _ = x.value_and_grad((), |x, ()| (x * k).sum());
}
