//! `channels_last_3d` is an order of five axes: batch, channels, depth, height, width.
//!
//! Instead: `images.contiguous_in(ChannelsLast)`.

use castiron::{ChannelsLast3d, Tensor, shape};

fn main() {
    let images: Tensor<f32, shape![2, 3, 4, 5]> = Tensor::zeros();
    let _ = images.contiguous_in(ChannelsLast3d);
}
