//! Of two complex numbers none is the larger one.
//!
//! Instead: compare the absolute values.
//!
//! names: maximum
//! says: .abs() | real

use castiron::tensor;

fn main() {
    let z = tensor![1.0 + 2.0j, 0.5];
    let _ = z.maximum(&z);
    // instead: let _ = z.abs().maximum(z.abs());
}
