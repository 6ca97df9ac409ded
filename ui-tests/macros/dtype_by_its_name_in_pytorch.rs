//! A literal's dtype is a type: Rust's, or an imported alias of `dtype::aliases`.
//!
//! Instead: `f64`.
//!
//! names: float64
//! says: f64
//! rustc: E0425

use castiron::tensor;

fn main() {
    let _ = tensor![1.0, 2.0; float64];
    // instead: let _ = tensor![1.0, 2.0; f64];
}
