//! An image is upsampled by a factor for each of its two axes.
//!
//! Instead: `shape![2, 2]`.
//!
//! names: `D3` numbers
//! names: 2 axes
//! says: one number for each

use castiron::{Tensor, nn::Nearest, shape};

fn main() {
    let image = Tensor::<f32, shape![1, 3, 8, 8]>::ones();
    let _ = image.upsample::<shape![1, 2, 2]>(Nearest::new());
    // instead: let _ = image.upsample::<shape![2, 2]>(Nearest::new());
}
