//! A typed tensor keeps no graph.
//!
//! Instead: `value_and_grad` of the parameters.
//!
//! names: `backward`
//! says: value_and_grad

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let loss = (&x * &x).sum();
    // instead:
    loss.backward();
    // instead: use castiron::grad::Grad;
    // instead: let (_loss, _gradient) = x.value_and_grad((), |x, ()| (x * x).sum());
}
