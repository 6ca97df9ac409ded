//! Operands are tensors, references to tensors, and numbers.
//!
//! Instead: `tensor![1.0, 2.0]`.
//!
//! names: [
//! says: tensor! | TensorView | Tensor::from

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let _ = &x + [1.0, 2.0];
    // instead: let _ = &x + tensor![1.0, 2.0];
}
