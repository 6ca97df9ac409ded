//! The element of a tensor is one of PyTorch's dtypes.
//!
//! Instead: `Tensor<i64, _>`.
//!
//! names: usize
//! names: dtype
//! says: i64

use castiron::{Tensor, shape};

fn main() {
    let _: Tensor<usize, shape![3]>;
    // instead: let _: Tensor<i64, shape![3]>;
}
