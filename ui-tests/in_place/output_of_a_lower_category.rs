//! An output is cast to as in-place results are.
//!
//! Instead: an output of `f32`.
//!
//! names: f32
//! names: i32
//! says: let x | out-of-place | new tensor

use castiron::{Tensor, shape, tensor};

fn main() {
    let mut out: Tensor<i32, shape![2]> = Tensor::zeros();
    // instead: let mut out: Tensor<f32, shape![2]> = Tensor::zeros();
    tensor![1, 2].add_into(tensor![0.5, 0.5], &mut out);
}
