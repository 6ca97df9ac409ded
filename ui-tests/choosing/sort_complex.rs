//! Complex numbers have no order.
//!
//! Instead: sort `.abs()` or `.real()`.
//!
//! names: sort
//! names: Complex
//! says: .abs()

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![1.0 + 2.0j, 3.0].sort(axis![0], false);
    // instead: let _ = tensor![1.0 + 2.0j, 3.0].abs().sort(axis![0], false);
}
