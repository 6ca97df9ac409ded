//! `contiguous` brings elements into an order, and `Preserve` names none.
//!
//! Instead: `x.clone_in(Preserve)`, or `x.contiguous()`.
//!
//! names: Preserve
//! says: Contiguous | ChannelsLast

use castiron::{Preserve, Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let _ = x.contiguous_in(Preserve);
    // instead: let _ = x.contiguous_in(castiron::Contiguous);
}
