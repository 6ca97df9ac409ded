//! `Float` are `f16`, `bf16`, `f32` and `f64`.
//!
//! Instead: cast the argument.
//!
//! names: i64
//! names: floating-point
//! says: .to::<

use castiron::{Float, Shape, Tensor, tensor};

fn rms<E: Float, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, ()> {
    x.square().mean().sqrt()
}

fn main() {
    rms(&tensor![1, 2, 3]);
    // instead: rms(&tensor![1, 2, 3].to::<f32>());
}
