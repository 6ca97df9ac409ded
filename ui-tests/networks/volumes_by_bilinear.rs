//! A mode of interpolation is for a number of axes.
//!
//! Instead: the mode of volumes.
//!
//! names: Bilinear
//! says: Trilinear

use castiron::nn::Bilinear;
use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![1, 8, 4, 4, 4]>::ones();
    let _ = x.interpolate::<shape![8, 8, 8]>(Bilinear::new());
    // instead: let _ = x.interpolate::<shape![8, 8, 8]>(castiron::nn::Trilinear::new());
}
