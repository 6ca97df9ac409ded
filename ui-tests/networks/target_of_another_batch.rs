//! A loss compares element with element.
//!
//! Instead: give the target the shape of the predictions.
//!
//! names: a target of shape `(D3, D1)` does not go with predictions of shape `(D2, D1)`
//! says: unsqueeze

use castiron::{Tensor, reduction::Mean, shape};

fn main() {
    let x: Tensor<f32, shape![2, 1]> = Tensor::zeros();
    let y: Tensor<f32, shape![3, 1]> = Tensor::zeros();
    // instead: let y: Tensor<f32, shape![2, 1]> = Tensor::zeros();
    let _ = x.mse_loss(&y, Mean);
}
