//! The groups of a convolution divide its output channels, packed or not.
//!
//! Instead: groups that divide them.
//!
//! names: groups
//! names: divide
//! says: as many channels

use castiron::{Tensor, dim, nn::Conv, shape};

fn main() {
    let weight = Tensor::<f32, shape![4, 3, 3, 3]>::ones();
    let _ = weight.pack_conv2d(None, Conv::new().groups::<dim!(3)>());
    // instead: let _ = weight.pack_conv2d(None, Conv::new().groups::<dim!(2)>());
}
