//! Complex numbers have no order, so none is in the middle.
//!
//! Instead: the absolute values.
//!
//! names: median
//! names: Complex
//! says: .abs()

use castiron::tensor;

fn main() {
    let z = tensor![1.0 + 2.0j, 0.5];
    let _ = z.median();
    // instead: let _ = z.abs().median();
}
