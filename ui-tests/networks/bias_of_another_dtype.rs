//! A bias has the dtype of the input of its layer.
//!
//! Instead: cast it.
//!
//! names: bias
//! names: f32
//! says: .to::<f32>()

use castiron::nn::Conv;
use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![1, 3, 8]> = Tensor::ones();
    let (weight, bias) = (Tensor::<f32, shape![4, 3, 3]>::ones(), Tensor::<f64, shape![4]>::zeros());
    let _ = x.conv1d(&weight, Some(&bias), Conv::new());
    // instead: let _ = x.conv1d(&weight, Some(&bias.to::<f32>()), Conv::new());
}
