//! An attribute of a module is one of a few.
//!
//! Instead: `rename`.
//!
//! names: `#[module(…)]` of a field takes
//! says: rename = …

use castiron::{Module, Tensor, shape};

#[derive(Module)]
pub struct Layer {
    #[module(name = "attention.self")]
    // instead: #[module(rename = "attention.self")]
    pub weight: Tensor<f32, shape![2]>,
}

fn main() {}
