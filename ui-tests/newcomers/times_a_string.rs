//! Operands are tensors, references to tensors, and numbers.
//!
//! Instead: parse it first.
//!
//! names: &str
//! says: scalar | parse

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let _ = &x * "2";
    // instead: let _ = &x * "2".parse::<f32>().unwrap();
}
