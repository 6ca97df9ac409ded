//! A typed tensor keeps no gradient.
//!
//! Instead: `value_and_grad` returns it.
//!
//! names: `grad`
//! says: value_and_grad

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let _ = x.grad();
    // instead: use castiron::grad::Grad;
    // instead: let (_, _gradient) = x.value_and_grad((), |x, ()| (x * x).sum());
}
