//! A Hessian is of one number.
//!
//! Instead: the number that is meant; the derivatives of a vector are its Jacobian.
//!
//! names: a gradient starts at one number
//! says: .sum()

use castiron::tensor;

fn main() {
    let x = tensor![1.0_f64, 2.0];
    let _ = x.hessian((), |x, ()| x.square());
    // instead: let _ = x.hessian((), |x, ()| x.square().sum());
}
