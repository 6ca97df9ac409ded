//! Views are methods.
//!
//! Instead: `.t()`.
//!
//! names: T
//! says: .t() | t()
//! rustc: E0609

use castiron::tensor;

fn main() {
    let x = tensor![[1.0, 2.0]];
    let _ = x.T;
    // instead: let _ = x.t();
}
