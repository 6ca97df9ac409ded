//! `Tensor<f32, S>` is a tensor on `Cpu`: the device is the third parameter.
//!
//! Instead: a function generic over the device, or a moved tensor.
//!
//! names: Cuda
//! says: .to_device
//! rustc: E0308

use castiron::{Cuda, Tensor, shape};

fn total(x: &Tensor<f32, shape![3]>) -> Tensor<f32, ()> {
// instead: fn total<D: castiron::Device>(x: &Tensor<f32, shape![3], D>) -> Tensor<f32, (), D> {
    x.sum()
}

fn main() {
    total(&Tensor::<f32, shape![3], Cuda<0>>::zeros());
}
