//! A window fits into the padded axis.
//!
//! Instead: a smaller window, or padding.
//!
//! names: D5
//! says: smaller

use castiron::nn::Pool;
use castiron::{Tensor, dim, shape};

fn main() {
    let x = Tensor::<f32, shape![1, 8, 4, 4]>::ones();
    let _ = x.max_pool2d(Pool::<dim!(5)>::new());
    // instead: let _ = x.max_pool2d(Pool::<dim!(2)>::new());
}
