//! Complex numbers have no order.
//!
//! Instead: compare `z.abs()`.
//!
//! names: lt
//! names: Complex
//! says: .abs()

use castiron::tensor;

fn main() {
    let z = tensor![1.0 + 2.0j, 0.5];
    let _ = z.lt(&z);
    // instead: let _ = z.abs().lt(z.abs());
}
