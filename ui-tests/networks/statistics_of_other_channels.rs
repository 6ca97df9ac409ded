//! Running statistics have an element for each channel.
//!
//! Instead: give them as many as there are channels.
//!
//! names: a list of `D4` elements does not go with `D6` channels or classes
//! says: one element for each channel or class

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![2, 6, 3]> = Tensor::zeros();
    let (mean, variance): (Tensor<f32, shape![4]>, Tensor<f32, shape![6]>) = (Tensor::zeros(), Tensor::ones());
    // instead: let (mean, variance): (Tensor<f32, shape![6]>, Tensor<f32, shape![6]>) = (Tensor::zeros(), Tensor::ones());
    let _ = x.batch_norm(&mean, &variance, (), (), 1e-5);
}
