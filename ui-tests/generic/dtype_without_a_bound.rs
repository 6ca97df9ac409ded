//! The element of a tensor is one of PyTorch's dtypes.
//!
//! Instead: `E: Dtype`, or a set such as `Float`.
//!
//! names: E
//! names: dtype
//! says: Element | Dtype

use castiron::{Tensor, shape};
// instead: use castiron::{Dtype, Tensor, shape};

fn first<E>(x: &Tensor<E, shape![3]>) -> E {
// instead: fn first<E: Dtype>(x: &Tensor<E, shape![3]>) -> E {
    x[0]
}

fn main() {}
