//! Complex numbers have no order, so none lies between two bounds.
//!
//! Instead: clamp `z.real()`, or the absolute value.
//!
//! names: clamp
//! says: real | .abs()

use castiron::tensor;

fn main() {
    let z = tensor![1.0 + 2.0j, 0.5];
    let _ = z.clamp(0, 1);
    // instead: let _ = z.real().clamp(0, 1);
}
