//! An output is cast to as in-place results are.
//!
//! Instead: an output of `f32`.

use castiron::{Tensor, shape, tensor};

fn main() {
    let mut out: Tensor<i32, shape![2]> = Tensor::zeros();
    tensor![1, 2].add_into(tensor![0.5, 0.5], &mut out);
}
