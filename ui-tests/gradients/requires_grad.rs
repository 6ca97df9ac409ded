//! Types say what has gradients.
//!
//! Instead: pass constants beside the parameters.
//!
//! names: `requires_grad_`
//! says: value_and_grad

use castiron::grad::Grad;
use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0].requires_grad_(true);
    // instead: let x = tensor![1.0, 2.0];
    let _ = x.value_and_grad((), |x, ()| x.sum());
}
