//! `pow` takes numbers and tensors.
//!
//! Instead: `pow`.
//!
//! names: powf
//! says: `pow`
//! rustc: E0599

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let _ = x.powf(0.5);
    // instead: let _ = x.pow(0.5);
}
