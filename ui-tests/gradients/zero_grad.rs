//! Gradients are not accumulated between steps.
//!
//! Instead: nothing: the next gradient is a new one.
//!
//! names: `zero_grad`
//! says: delete the call

use castiron::optim::Adam;
use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let mut adam = Adam::new(&x);
    adam.zero_grad();
    // instead:
    let _ = &mut adam;
}
