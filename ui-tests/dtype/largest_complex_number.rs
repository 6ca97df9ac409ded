//! Complex numbers have no order.
//!
//! Instead: `z.abs().amax()`.
//!
//! names: amax
//! names: Complex
//! says: .abs()

use castiron::tensor;

fn main() {
    let _ = tensor![1.0 + 2.0j, 0.5].amax();
    // instead: let _ = tensor![1.0 + 2.0j, 0.5].abs().amax();
}
