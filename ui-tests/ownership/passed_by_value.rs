//! A function that takes a tensor by value has it afterwards.
//!
//! Instead: `&x` and a function of `&Tensor`, or a clone in O(1).
//!
//! names: moved
//! names: `x`
//! says: clone
//! rustc: E0382

use castiron::{Shape, Tensor, tensor};

fn total<S: Shape>(x: Tensor<f32, S>) -> f32 {
    x.sum().item()
}

fn main() {
    let x = tensor![1.0, 2.0];
    let total = total(x);
    // instead: let total = total(x.clone());
    let _ = x / total;
}
