//! A function generic over the shape cannot ask for an order of four axes.
//!
//! Instead: `fn images<N: Dim, C: Dim, H: Dim, W: Dim>(x: &Tensor<f32, (N, C, H, W)>)`, or the bound `S: FourAxes`.

use castiron::{ChannelsLast, Shape, Tensor};

fn images<S: Shape>(x: &Tensor<f32, S>) -> Tensor<f32, S> {
    x.zeros_like_in(ChannelsLast)
}

fn main() {
    images(&castiron::tensor![1.0, 2.0]);
}
