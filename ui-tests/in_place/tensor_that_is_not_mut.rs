//! What is written into is declared `mut`.
//!
//! Instead: `let mut`.
//!
//! names: mutable
//! names: mut
//! says: mut x
//! rustc: E0596

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    // instead: let mut x = tensor![1.0, 2.0];
    x += 1;
}
