//! Functions of integers have no Jacobian.
//!
//! Instead: cast first.
//!
//! names: `i64` has no derivatives
//! says: .to::<f64>()

use castiron::tensor;

fn main() {
    let n = tensor![1_i64, 2];
    let _ = n.jacobian((), |n, ()| n * 2);
    // instead: let _ = n.to::<f64>().jacobian((), |n, ()| n * 2.0);
}
