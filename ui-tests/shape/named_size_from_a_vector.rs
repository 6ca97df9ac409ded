//! A name stands for a size that is given at run time.
//!
//! Instead: `from_vec_sized`.
//!
//! names: Batch
//! names: size
//! says: sized

use castiron::{Tensor, dims, shape};

dims! { Batch }

fn main() {
    let x: Tensor<f32, shape![Batch]> = Tensor::from_vec(vec![1.0, 2.0]);
    // instead: let x: Tensor<f32, shape![Batch]> = Tensor::from_vec_sized(vec![1.0, 2.0], [2]);
}
