//! An image has a height, a width and at most one axis of channels.
//!
//! Instead: one image of the batch.
//!
//! names: not an image
//! says: select

use castiron::{Tensor, shape};
// instead: use castiron::{Tensor, axis, shape};

fn main() {
    let x: Tensor<u8, shape![2, 5, 5, 3]> = Tensor::zeros();
    let image: image::RgbImage = x.into_image().unwrap();
    // instead: let image: image::RgbImage = x.select(axis![0], 0).into_image().unwrap();
}
