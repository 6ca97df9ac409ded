//! A weight has an element for each class.
//!
//! Instead: give it as many as there are classes.
//!
//! names: a list of `D4` elements does not go with `D5` channels or classes
//! says: one element for each channel or class

use castiron::{Tensor, reduction::Mean, shape};

fn main() {
    let (scores, labels): (Tensor<f32, shape![2, 5]>, Tensor<i64, shape![2]>) = (Tensor::zeros(), Tensor::zeros());
    let weight: Tensor<f32, shape![4]> = Tensor::ones();
    // instead: let weight: Tensor<f32, shape![5]> = Tensor::ones();
    let _ = scores.cross_entropy(&labels, &weight, -100, 0.0, Mean);
}
