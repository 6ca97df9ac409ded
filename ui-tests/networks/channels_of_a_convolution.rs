//! A convolution takes as many channels as its weight has.
//!
//! Instead: a weight for these channels: (out channels, channels / groups, window…).
//!
//! names: D3
//! names: D1
//! says: channels

use castiron::nn::Conv;
use castiron::{Tensor, shape};

fn main() {
    let image = Tensor::<f32, shape![1, 3, 32, 32]>::ones();
    let weight = Tensor::<f32, shape![8, 1, 7, 7]>::ones();
    // instead: let weight = Tensor::<f32, shape![8, 3, 7, 7]>::ones();
    let _ = image.conv2d(&weight, None, Conv::new());
}
