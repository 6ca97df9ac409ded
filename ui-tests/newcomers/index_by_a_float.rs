//! Positions are whole numbers.
//!
//! Instead: `x[0]`.
//!
//! names: indexed by
//! says: integer | usize | one index

use castiron::tensor;

fn main() {
    let x = tensor![1, 2, 3];
    let _ = x[0.0];
    // instead: let _ = x[0];
}
