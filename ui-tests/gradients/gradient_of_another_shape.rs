//! A step takes a gradient of its parameters.
//!
//! Instead: the gradient of the same struct.
//!
//! names: mismatched types
//! says: expected `&Tensor
//! rustc: E0308

use castiron::grad::Grad;
use castiron::optim::Sgd;
use castiron::tensor;

fn main() {
    let (mut x, y) = (tensor![1.0, 2.0], tensor![1.0, 2.0, 3.0]);
    let (_, gradient) = y.value_and_grad((), |y, ()| y.sum());
    // instead: let (_, gradient) = x.value_and_grad((), |x, ()| x.sum());
    Sgd::new(&x).step(&mut x, &gradient);
}
