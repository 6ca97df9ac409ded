//! A function generic over the shape cannot ask for an order of four axes.
//!
//! Instead: `fn images<N: Dim, C: Dim, H: Dim, W: Dim>(x: &Tensor<f32, (N, C, H, W)>)`, or the bound `S: FourAxes`.
//!
//! names: channels_last
//! names: four axes
//! says: FourAxes | (N, C, H, W)

use castiron::{ChannelsLast, Shape, Tensor};

fn images<S: Shape>(x: &Tensor<f32, S>) -> Tensor<f32, S> {
// instead: fn images<N: castiron::Dim, C: castiron::Dim, H: castiron::Dim, W: castiron::Dim>(x: &Tensor<f32, (N, C, H, W)>) -> Tensor<f32, (N, C, H, W)> {
    x.zeros_like_in(ChannelsLast)
}

fn main() {
    images(&castiron::tensor![1.0, 2.0]);
    // instead: images(&Tensor::<f32, castiron::shape![2, 3, 4, 5]>::ones());
}
