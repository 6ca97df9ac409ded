//! `t` is for matrices.
//!
//! Instead: `transpose(axis![-2], axis![-1])`.
//!
//! names: `t`
//! names: two axes
//! says: transpose

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![2, 3, 4]> = Tensor::zeros();
    let _ = x.t();
    // instead: let _ = x.transpose(castiron::axis![-2], castiron::axis![-1]);
}
