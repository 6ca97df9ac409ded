//! Complex numbers have no order.
//!
//! Instead: the absolute values.
//!
//! names: argmax
//! names: Complex
//! says: .abs()

use castiron::tensor;

fn main() {
    let z = tensor![1.0 + 2.0j, 0.5];
    let _ = z.argmax();
    // instead: let _ = z.abs().argmax();
}
