//! Code that is visited compiles for every dtype of the set.
//!
//! Instead: a set that the code takes, here `E: Float`.
//!
//! names: i64
//! names: floating-point
//! says: .to::< | f32

use castiron::{AnyTensor, Cpu, Dyn, Error, Float, Tensor, visit};

fn rms<E: Float>(x: &Tensor<E, (Dyn,)>) -> Tensor<E, ()> {
    x.square().mean().sqrt()
}

fn any_rms(x: &AnyTensor) -> Result<AnyTensor, Error> {
    visit!(x, E: [f32, i64] => rms::<E>(&x.typed::<E, (Dyn,), Cpu>()?).into())
    // instead: visit!(x, E: Float => rms::<E>(&x.typed::<E, (Dyn,), Cpu>()?).into())
}

fn main() {}
