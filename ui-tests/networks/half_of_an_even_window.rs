//! Padding by half of a window takes one with a middle.
//!
//! Instead: padding as a number.
//!
//! names: D2
//! says: number

use castiron::nn::{Conv, Half};
use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![1, 8, 16, 16]>::ones();
    let weight = Tensor::<f32, shape![8, 8, 2, 2]>::ones();
    // instead: let weight = Tensor::<f32, shape![8, 8, 3, 3]>::ones();
    let _ = x.conv2d(&weight, None, Conv::new().padding::<Half>());
}
