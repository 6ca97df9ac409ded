//! The learning rate of an optimizer is `rate`.
//!
//! Instead: `rate`.
//!
//! names: `lr`
//! says: .rate(

use castiron::optim::Sgd;
use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let _ = Sgd::new(&x).lr(0.1);
    // instead: let _ = Sgd::new(&x).rate(0.1);
}
