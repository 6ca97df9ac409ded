//! Operands are tensors, references to tensors, and numbers.
//!
//! Instead: parse it first.

use castiron::{tensor};

fn main() {
    let _ = tensor![1.0, 2.0].pow("2");
}
