//! A function writes only into what is lent to it by `&mut`.
//!
//! Instead: `&mut Tensor<…>`.
//!
//! names: mutable
//! names: &
//! says: &mut
//! rustc: E0596

use castiron::{Tensor, shape, tensor};

fn step(weight: &Tensor<f32, shape![2]>, gradient: &Tensor<f32, shape![2]>) {
// instead: fn step(weight: &mut Tensor<f32, shape![2]>, gradient: &Tensor<f32, shape![2]>) {
    weight.sub_(gradient * 0.1);
}

fn main() {
    let weight = tensor![1.0, 2.0];
    // instead: let mut weight = tensor![1.0, 2.0];
    step(&weight, &tensor![0.5, 0.5]);
    // instead: step(&mut weight, &tensor![0.5, 0.5]);
}
