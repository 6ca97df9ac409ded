//! Literals have PyTorch's dtypes: `1` is `i64`, `1.0` is `f32`.
//!
//! Instead: write `1.0`, or name the dtype: `tensor![1, 2; f32]`.
//!
//! names: f32
//! names: i64
//! says: f32
//! rustc: E0308

use castiron::{Tensor, shape, tensor};

fn main() {
    let x: Tensor<f32, shape![2]> = tensor![1, 2];
    // instead: let x: Tensor<f32, shape![2]> = tensor![1, 2; f32];
}
