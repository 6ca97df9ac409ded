//! Labels are integers.
//!
//! Instead: cast them, or give probabilities of all classes.
//!
//! names: `cross_entropy` takes indices of dtype `i64`, not `f32`
//! says: .to::<i64>()

use castiron::{Tensor, reduction::Mean, shape};

fn main() {
    let scores: Tensor<f32, shape![2, 5]> = Tensor::zeros();
    let labels: Tensor<f32, shape![2]> = Tensor::zeros();
    // instead: let labels: Tensor<i64, shape![2]> = Tensor::zeros();
    let _ = scores.cross_entropy(&labels, (), -100, 0.0, Mean);
}
