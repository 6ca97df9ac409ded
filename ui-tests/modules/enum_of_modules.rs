//! A module is a struct: a checkpoint does not say which variant it holds.
//!
//! Instead: a struct with an `Option` for each.
//!
//! names: is for structs
//! says: write a struct with an `Option` for each

use castiron::{Module, Tensor, shape};

#[derive(Module)]
enum Head {
    Plain(Tensor<f32, shape![2]>),
}
// instead of all: use castiron::{Module, Tensor, shape};
// instead of all:
// instead of all: #[derive(Module)]
// instead of all: pub struct Head {
// instead of all:     pub plain: Option<Tensor<f32, shape![2]>>,
// instead of all: }
// instead of all:
// instead of all: fn main() {}

fn main() {}
