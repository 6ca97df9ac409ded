//! Labels are where the scores are.
//!
//! Instead: `labels.to_device::<Cuda<0>>()?`.
//!
//! names: devices
//! names: Cpu
//! names: Cuda
//! says: .to_device

use castiron::{Cuda, Tensor, reduction::Mean, shape};

fn main() {
    let scores: Tensor<f32, shape![8, 10], Cuda<0>> = Tensor::zeros();
    let labels: Tensor<i64, shape![8]> = Tensor::zeros();
    let _ = scores.cross_entropy(&labels, (), -100, 0.0, Mean);
    // instead: let _ = scores.cross_entropy(&labels.to_device::<Cuda<0>>().unwrap(), (), -100, 0.0, Mean);
}
