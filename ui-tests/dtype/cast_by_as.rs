//! `as` converts Rust's numbers.
//!
//! Instead: `.to::<f64>()`.
//!
//! names: Tensor<f32
//! says: .to::< | .to()
//! rustc: E0605

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let _ = x as f64;
    // instead: let _ = x.to::<f64>();
}
