//! `channels_last_3d` is an order of five axes: batch, channels, depth, height, width.
//!
//! Instead: `images.contiguous_in(ChannelsLast)`.
//!
//! names: channels_last_3d
//! names: five axes
//! says: ChannelsLast

use castiron::{ChannelsLast3d, Tensor, shape};

fn main() {
    let images: Tensor<f32, shape![2, 3, 4, 5]> = Tensor::zeros();
    let _ = images.contiguous_in(ChannelsLast3d);
    // instead: let _ = images.contiguous_in(castiron::ChannelsLast);
}
