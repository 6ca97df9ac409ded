//! A convolution is of floating or complex numbers.
//!
//! Instead: convert first: `.to::<f32>()`.
//!
//! names: u8
//! says: to::<f32>()

use castiron::nn::Conv;
use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<u8, shape![1, 3, 16, 16]>::ones();
    // instead: let x = Tensor::<f32, shape![1, 3, 16, 16]>::ones();
    let weight = Tensor::<u8, shape![8, 3, 3, 3]>::ones();
    // instead: let weight = Tensor::<f32, shape![8, 3, 3, 3]>::ones();
    let _ = x.conv2d(&weight, None, Conv::new());
}
