//! A tensor has sizes, and a number of elements.
//!
//! Instead: `numel()`, or `size(axis![0])`.
//!
//! names: `len`
//! says: numel

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let _ = x.len();
    // instead: let _ = x.numel();
}
