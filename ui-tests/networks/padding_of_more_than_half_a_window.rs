//! At most half of a pool's window stands outside of an axis, so that each sees an element.
//!
//! Instead: less padding.
//!
//! names: `D2`
//! names: half
//! says: at most half

use castiron::{Tensor, dim, nn::Pool, shape};

fn main() {
    let image = Tensor::<f32, shape![1, 3, 8, 8]>::ones();
    let _ = image.max_pool2d(Pool::<dim!(2)>::new().padding::<dim!(2)>());
    // instead: let _ = image.max_pool2d(Pool::<dim!(2)>::new().padding::<dim!(1)>());
}
