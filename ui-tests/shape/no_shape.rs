//! A tensor's type names its dtype and its shape.
//!
//! Instead: a shape, `shape![_]` for a vector whose size is known at run time.
//!
//! names: missing generics | generic argument
//! says: Tensor<f64, S>
//! rustc: E0107

use castiron::{Tensor, tensor};
// instead: use castiron::{Tensor, shape, tensor};

fn main() {
    let x: Tensor<f64> = tensor![1.0, 2.0; f64];
    // instead: let x: Tensor<f64, shape![2]> = tensor![1.0, 2.0; f64];
}
