//! The text of a kernel can do anything: somebody promises what it does.
//!
//! Instead: `unsafe` around it, or `unsafe fn`.
//!
//! names: does not check the text
//! says: unsafe { … }
//! says: unsafe fn

use castiron::{Tensor, cuda_kernel, shape};

cuda_kernel! {
    fn cleared(y: &mut Tensor<f32, shape![3]>) {
        "if (threadIdx.x < 3) y[threadIdx.x] = 0;"
        // instead: unsafe { "if (threadIdx.x < 3) y[threadIdx.x] = 0;" }
    }
}

fn main() {}
