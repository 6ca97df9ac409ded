//! `channels_last` is an order of four axes: batch, channels, height, width.
//!
//! Instead: `image.unsqueeze(axis![0]).to_memory_format(ChannelsLast)`.
//!
//! names: channels_last
//! names: four axes
//! says: unsqueeze

use castiron::{ChannelsLast, Tensor, shape};

fn main() {
    let image: Tensor<f32, shape![3, 4, 5]> = Tensor::zeros();
    let _ = image.to_memory_format(ChannelsLast);
    // instead: let _ = image.unsqueeze(castiron::axis![0]).to_memory_format(ChannelsLast);
}
