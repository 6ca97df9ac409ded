//! A list of numbers has one for each axis that a window moves along.
//!
//! Instead: `shape![2, 1]`, or `dim!(2)` for all axes.
//!
//! names: `D3` numbers
//! names: 2 axes
//! says: one number for each

use castiron::{Tensor, nn::Conv, shape};

fn main() {
    let image = Tensor::<f32, shape![1, 3, 8, 8]>::ones();
    let weight = Tensor::<f32, shape![4, 3, 3, 3]>::ones();
    let conv = Conv::new().stride::<shape![1, 2, 2]>();
    // instead: let conv = Conv::new().stride::<shape![2, 2]>();
    let _ = image.conv2d(&weight, None, conv);
}
