//! Which axes go must be known to the compiler.
//!
//! Instead: state the sizes, for example `.with_shape::<shape![1, 3]>()`.
//!
//! names: run time
//! says: with_shape

use castiron::{Tensor, axis, shape};

fn main() {
    Tensor::<f32, shape![_, 1]>::zeros_sized([1, 1]).squeeze_axes(axis![0, 1]);
    // instead: Tensor::<f32, shape![1, 1]>::zeros().squeeze_axes(axis![0, 1]);
}
