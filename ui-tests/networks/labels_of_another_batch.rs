//! There is one label for each list of scores.
//!
//! Instead: give labels the shape of the scores without the axis of classes.
//!
//! names: labels of shape `(D3,)` do not go with scores of shape `(D2, D5)`
//! says: one label for each list of scores

use castiron::{Tensor, reduction::Mean, shape};

fn main() {
    let scores: Tensor<f32, shape![2, 5]> = Tensor::zeros();
    let labels: Tensor<i64, shape![3]> = Tensor::zeros();
    // instead: let labels: Tensor<i64, shape![2]> = Tensor::zeros();
    let _ = scores.cross_entropy(&labels, (), -100, 0.0, Mean);
}
