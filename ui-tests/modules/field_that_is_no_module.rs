//! A module's fields are tensors and modules.
//!
//! Instead: mark what is not in the checkpoint.
//!
//! names: `usize` can't be loaded from a checkpoint
//! says: #[module(skip)]

use castiron::{Module, Tensor, shape};

#[derive(Module)]
pub struct Layer {
    pub weight: Tensor<f32, shape![2]>,
    pub steps: usize,
    // instead: #[module(skip)]
    // instead: pub steps: usize,
}

fn main() {}
