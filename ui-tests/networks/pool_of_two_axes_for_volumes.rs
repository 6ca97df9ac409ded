//! A pool's window has a size for each axis.
//!
//! Instead: `shape![2, 2, 2]`, or `dim!(2)`.
//!
//! names: `D2` numbers
//! names: 3 axes
//! says: one for all

use castiron::{Tensor, nn::Pool, shape};

fn main() {
    let volume = Tensor::<f32, shape![1, 3, 8, 8, 8]>::ones();
    let _ = volume.max_pool3d(Pool::<shape![2, 2]>::new());
    // instead: let _ = volume.max_pool3d(Pool::<shape![2, 2, 2]>::new());
}
