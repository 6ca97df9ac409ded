//! A named size is declared.
//!
//! Instead: `dims! { Batch }`.
//!
//! names: Batch
//! says: dims!
//! rustc: E0425

use castiron::{Tensor, shape};
// instead: use castiron::{Tensor, dims, shape};
// instead:
// instead: dims! { Batch }

fn first(_: &Tensor<f32, shape![Batch, 3]>) {}

fn main() {}
