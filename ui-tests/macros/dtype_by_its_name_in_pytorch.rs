//! A literal's dtype is Rust's type.
//!
//! Instead: `f64`.
//!
//! names: float64
//! says: f64

use castiron::tensor;

fn main() {
    let _ = tensor![1.0, 2.0; float64];
    // instead: let _ = tensor![1.0, 2.0; f64];
}
