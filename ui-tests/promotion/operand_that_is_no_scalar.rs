//! Operands are tensors, references to tensors, and numbers.
//!
//! Instead: parse it first.
//!
//! names: &str
//! names: operand
//! says: number | tensor | literal

use castiron::tensor;

fn main() {
    let _ = tensor![1.0, 2.0].pow("2");
    // instead: let _ = tensor![1.0, 2.0].pow("2".parse::<f64>().unwrap());
}
