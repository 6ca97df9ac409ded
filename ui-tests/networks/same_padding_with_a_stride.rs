//! Padding that keeps the size takes a stride of 1.
//!
//! Instead: `Half`, which gives the size divided by the stride.
//!
//! names: Same
//! says: Half

use castiron::nn::{Conv, Same};
use castiron::{Tensor, dim, shape};

fn main() {
    let x = Tensor::<f32, shape![1, 8, 16, 16]>::ones();
    let weight = Tensor::<f32, shape![8, 8, 3, 3]>::ones();
    let _ = x.conv2d(&weight, None, Conv::new().stride::<dim!(2)>().padding::<Same>());
    // instead: let _ = x.conv2d(&weight, None, Conv::new().padding::<Same>());
    // instead: let _ = x.conv2d(&weight, None, Conv::new().stride::<dim!(2)>().padding::<castiron::nn::Half>());
}
