//! The weights of a convolution are where its input is.
//!
//! Instead: `kernel.to_device::<Cuda<0>>()?`.
//!
//! names: devices
//! names: Cpu
//! names: Cuda
//! says: .to_device

use castiron::{Cuda, Tensor, nn::Conv, shape};

fn main() {
    let x: Tensor<f32, shape![1, 3, 8, 8], Cuda<0>> = Tensor::zeros();
    let kernel: Tensor<f32, shape![4, 3, 3, 3]> = Tensor::zeros();
    let _ = x.conv2d(&kernel, None, Conv::new());
    // instead: let kernel = kernel.to_device::<Cuda<0>>().unwrap();
    // instead: let _ = x.conv2d(&kernel, None, Conv::new());
}
