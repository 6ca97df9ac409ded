//! Images are resampled in batches.
//!
//! Instead: a batch of one.
//!
//! names: can't be resampled
//! says: unsqueeze

use castiron::nn::Bilinear;
use castiron::{Tensor, shape};

fn main() {
    let image: Tensor<f32, shape![3, 8]> = Tensor::ones();
    let _ = image.interpolate::<shape![16, 16]>(Bilinear::new());
    // instead: let _ = image.unsqueeze(castiron::axis![0]).unsqueeze(castiron::axis![0]).interpolate::<shape![16, 16]>(Bilinear::new());
}
