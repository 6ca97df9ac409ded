//! Operands are tensors, references to tensors, and numbers.
//!
//! Instead: make a tensor of it, or a view of its memory.
//!
//! names: Vec
//! says: TensorView | Tensor::from | from_slice

use castiron::tensor;
// instead: use castiron::{Tensor, tensor};

fn main() {
    let x = tensor![1.0, 2.0];
    let _ = &x + vec![1.0_f32, 2.0];
    // instead: let _ = &x + Tensor::from(vec![1.0_f32, 2.0]);
}
