//! The element of a tensor is one of PyTorch's dtypes.
//!
//! Instead: `Tensor<i64, _>`.

use castiron::{Tensor, shape};

fn main() {
    let _: Tensor<usize, shape![3]>;
}
