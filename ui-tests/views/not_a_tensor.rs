//! A function of `impl AsTensor` takes tensors and views of them.
//!
//! Instead: make a view of the memory: `TensorView::from_slice(&x)`.
//!
//! names: Vec<f32>
//! names: Tensor
//! says: from_slice

use castiron::{AsTensor, Float, Shape, Tensor};

fn total<E: Float, S: Shape>(x: impl AsTensor<E, S, castiron::Cpu>) -> Tensor<E, (), castiron::Cpu> {
    x.as_tensor().mean()
}

fn main() {
    total::<f32, (castiron::Dyn,)>(vec![1.0_f32, 2.0]);
    // instead: total::<f32, (castiron::Dyn,)>(Tensor::from(vec![1.0_f32, 2.0]));
}
