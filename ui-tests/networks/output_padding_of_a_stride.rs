//! A transposed convolution adds less than a stride.
//!
//! Instead: output padding below the stride.
//!
//! names: output padding
//! names: `D2`
//! says: less than its stride

use castiron::{Tensor, dim, nn::Conv, shape};

fn main() {
    let x = Tensor::<f32, shape![1, 4, 8, 8]>::ones();
    let weight = Tensor::<f32, shape![4, 2, 3, 3]>::ones();
    let up = Conv::new().stride::<dim!(2)>().output_padding::<dim!(2)>();
    // instead: let up = Conv::new().stride::<dim!(2)>().output_padding::<dim!(1)>();
    let _ = x.conv_transpose2d(&weight, None, up);
}
