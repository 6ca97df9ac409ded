//! Groups divide the channels of a convolution's result.
//!
//! Instead: as many groups as divide them.
//!
//! names: D4
//! names: D9
//! says: groups

use castiron::nn::Conv;
use castiron::{Tensor, dim, shape};

fn main() {
    let x = Tensor::<f32, shape![1, 8, 16, 16]>::ones();
    let weight = Tensor::<f32, shape![9, 2, 3, 3]>::ones();
    // instead: let weight = Tensor::<f32, shape![12, 2, 3, 3]>::ones();
    let _ = x.conv2d(&weight, None, Conv::new().groups::<dim!(4)>());
}
