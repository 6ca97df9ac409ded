//! A kernel writes into tensors that are there.
//!
//! Instead: a `&mut` tensor.
//!
//! names: returns nothing
//! says: writes into `&mut` tensors

use castiron::{Tensor, cuda_kernel, shape};

cuda_kernel! {
    fn cleared() -> Tensor<f32, shape![3]> {
        // instead: fn cleared(y: &mut Tensor<f32, shape![3]>) {
        // SAFETY: there are three.
        unsafe { "if (threadIdx.x < 3) y[threadIdx.x] = 0;" }
    }
}

fn main() {}
