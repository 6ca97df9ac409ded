//! A variance is of two elements or more: to train on one example of one element per channel has no sense.
//!
//! Instead: batches of several examples, or `batch_norm` by statistics that are known.
//!
//! names: variance
//! says: batch_norm

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![1, 3]> = Tensor::ones();
    // instead: let x: Tensor<f32, shape![2, 3]> = Tensor::ones();
    let _ = x.batch_norm_training((), (), (), 0.1, 1e-5);
}
